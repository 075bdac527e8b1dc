import { Command } from "ioredis";
import { describe, expect, test } from "vitest";
import { callLeanly, LeanCommand } from "../../packages/event-queues/src/lean-scripts.ts";
import { eventually } from "../support/index.ts";
import { addJobs, connectTo, openPlainQueues, startConsumer, startOwnRedis } from "./setting.ts";

describe("a lean command", () => {
  test.each([
    ["text only", ["sha", "2", "key", "value"]],
    ["no arguments", []],
    ["text that takes more bytes than characters", ["sha", "日本", "é", "🧾", ""]],
    [
      "bytes that are no text, first, last and side by side",
      [Buffer.from([0, 255, 13, 10]), "x", Buffer.from([128]), Buffer.alloc(0)],
    ],
    ["numbers and what is missing", ["sha", 14, 1_764_460_800_000, undefined, null]],
  ])("is, byte for byte, what ioredis writes: %s", (_name, args) => {
    const given = args as (string | Buffer)[];
    const usual = new Command("evalsha", [...given]).toWritable(undefined as never);
    const lean = new LeanCommand("evalsha", [...given]).toWritable();
    expect(lean.equals(typeof usual === "string" ? Buffer.from(usual) : usual)).toBe(true);
  });
});

test("a client that does not tell its scripts is left to its own way, and nothing is sent", () => {
  const sendCommand = (): never => {
    throw new Error("nothing should be sent");
  };
  expect(callLeanly({ sendCommand }, "moveToFinished", [])).toBeNull();
  expect(callLeanly({ sendCommand, scriptsSet: {} }, "moveToFinished", [])).toBeNull();
});

describe("after SCRIPT FLUSH", () => {
  test("jobs still end, and the next ones are fetched", async () => {
    const server = await startOwnRedis();
    const queues = openPlainQueues(server);
    const consumer = startConsumer(server);
    await addJobs(queues, "payment", 3);
    await eventually(() => consumer.jobs.length === 3);
    const redis = connectTo(server);

    await redis.script("FLUSH");
    await addJobs(queues, "payment", 50);

    await eventually(() => consumer.jobs.length === 53);
    await eventually(async () => (await redis.exists(`${server.prefix}:{payment}:active`)) === 0);
    expect(new Set(consumer.jobs.map(({ id }) => id)).size).toBe(53);
  }, 60_000);
});
