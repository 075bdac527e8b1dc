import { expect, test } from "vitest";
import { GuardInRedis } from "../../packages/order-updates/src/guard-in-redis.ts";
import { HandlerFailedError } from "../../packages/order-updates/src/index.ts";
import { eventually, freshRedis } from "../support/index.ts";
import { nameOf, openStation } from "./setting.ts";

const PATIENT = { gapWaitMs: 60_000 };

test("without a database, versions are handled rising and repeats are skipped", async () => {
  const station = openStation();
  await station.send("A", 3, 1, 2, 1, 3);
  const seen = await station.onRedis(PATIENT);
  await eventually(async () => (await station.left()) === 0);
  expect(seen.begun).toEqual(["A@1", "A@2", "A@3"]);
  expect(seen.consumer.counts()).toEqual({ handled: 3, gaps: 0, skipped: 2, failed: 0, unusable: 0 });
});

test("without a database, two consumers never run one order's handlers at once", async () => {
  const station = openStation();
  const versions = Array.from({ length: 20 }, (_, index) => index + 1);
  const order: string[] = [];
  let running = 0;
  let meetings = 0;
  const handler = async (update: { lcid: string; version: number }): Promise<void> => {
    running += 1;
    if (running !== 1) meetings += 1;
    order.push(nameOf(update));
    await new Promise(setImmediate);
    running -= 1;
  };
  await station.onRedis(PATIENT, handler);
  await station.onRedis(PATIENT, handler);
  await station.send("A", ...versions, ...versions);
  await eventually(async () => (await station.left()) === 0, { withinMs: 40_000 });
  expect(order).toEqual(versions.map((version) => nameOf({ lcid: "A", version })));
  expect(meetings).toBe(0);
});

test("without a database, a missing version is a gap after a bounded time", async () => {
  const station = openStation();
  const seen = await station.onRedis({ gapWaitMs: 200 });
  await station.send("A", 1, 3);
  await eventually(async () => (await station.left()) === 0);
  expect(seen.begun).toEqual(["A@1", "A@3"]);
  expect(seen.gaps).toEqual([{ expected: 2, got: 3 }]);
});

test("a holder that lost its lease cannot turn the remembered version back", async () => {
  const corner = freshRedis();
  const { url, prefix } = corner;
  const open = (): GuardInRedis => new GuardInRedis({ redis: url, prefix, gapWaitMs: 0, leaseMs: 10_000 });
  const frozen = open();
  const next = open();
  let thaw = (): void => undefined;
  const first = frozen.pass({ lcid: "A", version: 1 }, async () => {
    await new Promise<void>((resolve) => {
      thaw = resolve;
    });
  });
  const redis = corner.connect();
  await eventually(async () => (await redis.del(`${prefix}:lock:{A}`)) === 1);
  expect(await next.pass({ lcid: "A", version: 1 }, async () => {})).toEqual({ kind: "handled", gap: null });
  expect(await next.pass({ lcid: "A", version: 2 }, async () => {})).toEqual({ kind: "handled", gap: null });
  thaw();
  await first;
  expect(await next.pass({ lcid: "A", version: 2 }, async () => {})).toEqual({ kind: "skipped", last: 2 });
  await Promise.all([frozen.close(), next.close()]);
});

test("without a database, while one consumer's handler is at an order, another's is not begun for it", async () => {
  const { url, prefix } = freshRedis();
  const open = (): GuardInRedis => new GuardInRedis({ redis: url, prefix, gapWaitMs: 0, leaseMs: 10_000 });
  const one = open();
  const two = open();
  const begun: string[] = [];
  let other: unknown;
  await one.pass({ lcid: "A", version: 1 }, async () => {
    other = await two.pass({ lcid: "A", version: 1 }, async () => {
      begun.push("other");
    });
  });
  expect(other).toEqual({ kind: "busy" });
  expect(begun).toEqual([]);
  await Promise.all([one.close(), two.close()]);
});

test("without a database, versions wait anew once the missing one has come, although its handler fails then", async () => {
  const corner = freshRedis();
  const { url, prefix } = corner;
  const guard = new GuardInRedis({ redis: url, prefix, gapWaitMs: 60_000, leaseMs: 10_000 });
  const redis = corner.connect();
  const waitLong = async (): Promise<unknown> => redis.zincrby(`${prefix}:seen:{A}`, -3_600_000, "waiting");
  const act = async (): Promise<void> => {};
  const failing = async (): Promise<void> => {
    throw new HandlerFailedError({ lcid: "A", version: 1 }, { cause: new Error("not yet") });
  };
  expect(await guard.pass({ lcid: "A", version: 2 }, act)).toEqual({ kind: "waiting", missing: 1 });
  await waitLong();
  await expect(guard.pass({ lcid: "A", version: 1 }, failing)).rejects.toThrow(HandlerFailedError);
  expect(await guard.pass({ lcid: "A", version: 2 }, act)).toEqual({ kind: "waiting", missing: 1 });
  await waitLong();
  expect(await guard.pass({ lcid: "A", version: 2 }, act)).toEqual({
    kind: "handled",
    gap: { expected: 1, got: 2 },
  });
  await guard.close();
});
