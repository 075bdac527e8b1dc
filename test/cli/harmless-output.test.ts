import { createOrderStore } from "@junban/order-store";
import { readEnvelopeText, requestOf } from "@junban/orders";
import { expect, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { openShell, placed } from "./junban.ts";

/** Clears the screen, by the eight-bit form that no JSON escapes; turns a line around; hides. */
const ODD = "\u009b2J\u202e\u200b\u{e0041}\u007f";

test("a JSON document holds nothing that moves the cursor, and is the same document for whoever parses it", async () => {
  const shell = await openShell();
  const store = createOrderStore({ databaseUrl: shell.databaseUrl, worker: "test" });
  const text = placed("A", { id: "odd", note: ODD });
  const reading = readEnvelopeText(text);
  if (reading.kind === "unusable") throw new Error(reading.rule);
  await store.apply([
    { lcid: "A", requests: [{ ...requestOf(reading.envelope), publishedAtMs: Date.now() }] },
  ]);
  await store.close();
  const run = await shell.junban(["event", "/shop", "odd", "--json"]);
  expect(run.out.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(run.json()).toMatchObject({ event: { note: ODD } });
});

test("nor does what is said about arguments that came from elsewhere", async () => {
  const shell = await openShell();
  const calls = [
    [`--${ODD}`],
    ["dlq", "replay", `job:${ODD}`, "1"],
    ["wait-idle", "--timeout", ODD],
    ["publish", ODD],
  ];
  const runs = await Promise.all(calls.map((args) => shell.junban(args)));
  for (const [index, { code, err }] of runs.entries()) {
    expect([calls[index], code]).toEqual([calls[index], 2]);
    expect(err.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
});

test("dlq shows as much of an unusable job as people need to recognise it, escaped", async () => {
  const shell = await openShell();
  const redis = freshRedis().connect();
  const data = JSON.stringify({ note: `${ODD}${"x".repeat(100_000)}` });
  await redis.hset(`${shell.prefix}:{payment}:odd`, { name: "x", data, failedReason: "for a test" });
  await redis.zadd(`${shell.prefix}:{payment}:failed`, Date.now(), "odd");
  const run = await shell.junban(["dlq", "--json"]);
  const { jobs } = run.json() as { jobs: readonly Record<string, unknown>[] };
  expect(jobs).toHaveLength(1);
  expect(Object.keys(jobs[0] ?? {}).toSorted()).toEqual([
    "excerpt",
    "failedAtMs",
    "family",
    "id",
    "name",
    "reason",
  ]);
  expect(jobs[0]?.["excerpt"]).toMatch(/^\{"note":"\\u009b2J[\u0020-\u007e]{1,190}\.\.\.$/u);
});
