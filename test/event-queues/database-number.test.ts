import { createPublisher, createQueueReader } from "@junban/event-queues";
import { expect, onTestFinished, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { eventOf } from "./publisher-setting.ts";

test("a database that Redis does not have is refused, and nothing goes to another one", async () => {
  const corner = freshRedis();
  const missing = { redis: `${corner.url.replace(/\/\d*$/u, "")}/9999`, prefix: corner.prefix };
  const publisher = createPublisher(missing);
  const reader = createQueueReader(missing);
  onTestFinished(async () => {
    await Promise.all([publisher.close(), reader.close()]);
  });
  const refusal = { code: "REDIS_REFUSED", message: expect.stringContaining("DB index") as string };
  await expect(publisher.publish(eventOf({ lcid: "A", id: "1" }))).rejects.toMatchObject(refusal);
  await expect(reader.counts()).rejects.toMatchObject(refusal);
  expect(await corner.connect().keys(`${corner.prefix}:*`)).toEqual([]);
});
