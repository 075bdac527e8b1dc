import { createPublisher, QueueUnavailableError } from "@junban/event-queues";
import { isDenied } from "@junban/operations";
import { startRedis } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { withSetting } from "../../apps/cli/src/command.ts";
import { LinePublisher } from "../../apps/cli/src/publish-lines.ts";
import { placed } from "./junban.ts";

async function addressWithWrongPassword(): Promise<string> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return redis.url.replace(redis.password, "sesame");
}

describe("a server that lets nobody in", () => {
  test("is not waited for by a command", async () => {
    const env = { REDIS_URL: await addressWithWrongPassword() };
    const setting = withSetting({ env, need: ["redis"] }, async () => undefined);
    await expect(setting).rejects.toMatchObject({ name: "QueueUnavailableError", code: "REDIS_AWAY" });
  });

  test("is not waited for by a publication, however patient it is", async () => {
    const publisher = createPublisher({ redis: await addressWithWrongPassword() });
    onTestFinished(() => publisher.close());
    const lines = new LinePublisher({
      publisher,
      limits: { patienceMs: 600_000 },
      signal: new AbortController().signal,
      observer: { notice: () => undefined, progress: () => undefined, waiting: () => undefined },
    });
    async function* file() {
      yield { number: 1, text: placed("A") };
    }
    await expect(lines.publish(file())).rejects.toBeInstanceOf(QueueUnavailableError);
  });
});

test.each([
  ["a wrong password", new Error("WRONGPASS invalid username-password pair or user is disabled."), true],
  ["no password", new Error("NOAUTH Authentication required."), true],
  ["a command that is not allowed", new Error("NOPERM this user has no permissions"), true],
  ["what Redis 5 says", new Error("ERR invalid password"), true],
  ["a cause further down", new Error("away", { cause: new Error("WRONGPASS no") }), true],
  ["a wrong password for Postgres", Object.assign(new Error("no"), { code: "28P01" }), true],
  ["a database that is not there", Object.assign(new Error("no"), { code: "3D000" }), true],
  ["a server that starts", Object.assign(new Error("no"), { code: "57P03" }), false],
  ["nobody there", new Error("connect ECONNREFUSED 127.0.0.1:1"), false],
  ["Redis that loads its file", new Error("LOADING Redis is loading the dataset in memory"), false],
])("%s is denial or not", (_what, error, denied) => {
  expect(isDenied(error)).toBe(denied);
});
