import { consumeUpdates, type UpdatesConsumer } from "@junban/event-queues";
import { forgetSubscriber, SubscriberServedError } from "@junban/operations";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { openFleet, type TestFleet } from "./fleet.ts";

async function subscribe({ redisUrl, prefix }: TestFleet, name: string): Promise<UpdatesConsumer> {
  const consumer = await consumeUpdates({
    redis: redisUrl,
    prefix,
    name,
    concurrency: 1,
    lockDurationMs: 5_000,
    process: async () => ({ kind: "completed" }),
    onError: () => undefined,
  });
  onTestFinished(() => consumer.close({ deadlineMs: 2_000 }));
  return consumer;
}

test("a name that is served cannot be forgotten, and one that nobody serves can", async () => {
  const fleet = await openFleet();
  const { queues } = fleet;
  const consumer = await subscribe(fleet, "billing");
  await eventually(async () => (await queues.updates()).names[0]?.consumers === 1);
  await expect(forgetSubscriber(queues, { name: "billing" })).rejects.toBeInstanceOf(SubscriberServedError);
  expect((await queues.updates()).names).toMatchObject([{ name: "billing" }]);

  await consumer.close({ deadlineMs: 2_000 });
  await eventually(async () => (await queues.updates()).names[0]?.consumers === 0);
  expect(await forgetSubscriber(queues, { name: "billing" })).toEqual({ kind: "forgotten", waiting: 0 });
  expect((await queues.updates()).names).toEqual([]);
});

test("a name that is not subscribed is unknown, however it is spelt", async () => {
  const { queues } = await openFleet();
  for (const name of ["nobody", "no:body", "", "x".repeat(200)]) {
    expect(await forgetSubscriber(queues, { name })).toEqual({ kind: "unknown" });
  }
});
