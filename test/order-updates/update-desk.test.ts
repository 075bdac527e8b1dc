import { expect, test } from "vitest";
import type { TransactionContext } from "../../packages/order-updates/src/contract.ts";
import { GuardUnavailableError } from "../../packages/order-updates/src/errors.ts";
import type { Guard, Passage } from "../../packages/order-updates/src/guard.ts";
import { readSettings } from "../../packages/order-updates/src/settings.ts";
import { UpdateDesk } from "../../packages/order-updates/src/update-desk.ts";
import type { UpdateDeskOptions } from "../../packages/order-updates/src/update-desk.ts";

type Pass = Guard<Partial<TransactionContext>>["pass"];

/** A desk before a guard that answers as it is told. */
function deskAt(
  pass: Pass,
  given: { readonly gapWaitMs?: number; readonly handler?: UpdateDeskOptions["handler"] } = {},
): { desk: UpdateDesk; told: Error[]; stop: () => void } {
  const { gapWaitMs = 30_000, handler = async () => {} } = given;
  const told: Error[] = [];
  const stopping = new AbortController();
  const desk = new UpdateDesk({
    settings: readSettings({ redis: "redis://127.0.0.1:1", name: "billing", gapWaitMs }),
    observers: { onError: (error) => told.push(error) },
    guard: { pass, close: async () => {} },
    stopping: stopping.signal,
    handler,
  });
  return { desk, told, stop: () => stopping.abort() };
}

const HANDLED: Passage = { kind: "handled", gap: null };

const letsPass: Pass = async (_notice, act) => {
  await act(null, {});
  return HANDLED;
};

test("a failing handler is tried again with growing pauses, always sooner than others stop waiting for its version", async () => {
  const { desk, told } = deskAt(letsPass, {
    gapWaitMs: 9_000,
    handler: async () => {
      throw new Error("no");
    },
  });
  const pauses: unknown[] = [];
  for (const stepsBack of [0, 1, 2, 50]) {
    pauses.push(await desk.process({ data: { lcid: "A", version: 1 }, stepsBack }));
  }
  expect(pauses).toEqual([1_000, 2_000, 3_000, 3_000].map((delayMs) => ({ kind: "delayed", delayMs })));
  expect(told).toHaveLength(4);
});

test("a guard that cannot be asked is not the handler's failure: it is left to whoever tells of outages once", async () => {
  const { desk, told } = deskAt(async () => {
    throw new GuardUnavailableError({ detail: "no" });
  });
  await expect(desk.process({ data: { lcid: "A", version: 1 }, stepsBack: 0 })).rejects.toThrow(
    GuardUnavailableError,
  );
  expect(told).toEqual([]);
  expect(desk.counts().failed).toBe(1);
});

test("what has to wait is looked at again the later, the more is before it and the longer it waits", async () => {
  const waiting = async (missing: number, stepsBack: number): Promise<unknown> => {
    const { desk } = deskAt(async () => ({ kind: "waiting", missing }));
    return desk.process({ data: { lcid: "A", version: 100 }, stepsBack });
  };
  expect(await waiting(1, 0)).toEqual({ kind: "delayed", delayMs: 100 });
  expect(await waiting(5, 0)).toEqual({ kind: "delayed", delayMs: 500 });
  expect(await waiting(1, 4)).toEqual({ kind: "delayed", delayMs: 200 });
  expect(await waiting(1_000, 1_000)).toEqual({ kind: "delayed", delayMs: 2_000 });
});

test("one order's handlers run one at a time in a process, in the order of their jobs; another order's run beside them", async () => {
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const { desk } = deskAt(letsPass, {
    handler: async ({ lcid, version }) => {
      running.push(`${lcid}@${version}`);
      await new Promise<void>((resolve) => ends.set(`${lcid}@${version}`, resolve));
    },
  });
  const jobs = [
    { lcid: "A", version: 1 },
    { lcid: "A", version: 2 },
    { lcid: "B", version: 1 },
  ].map(async (data) => desk.process({ data, stepsBack: 0 }));
  await new Promise(setImmediate);
  expect(running).toEqual(["A@1", "B@1"]);
  ends.get("A@1")?.();
  await jobs[0];
  await new Promise(setImmediate);
  expect(running).toEqual(["A@1", "B@1", "A@2"]);
  ends.get("A@2")?.();
  ends.get("B@1")?.();
  await Promise.all(jobs);
});

test("closing tells the handler under way, and puts back what has not begun", async () => {
  const { desk, stop } = deskAt(letsPass, {
    handler: async (_update, { signal }) => {
      if (signal?.aborted === true) return;
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    },
  });
  const first = desk.process({ data: { lcid: "A", version: 1 }, stepsBack: 0 });
  const second = desk.process({ data: { lcid: "A", version: 2 }, stepsBack: 0 });
  await new Promise(setImmediate);
  stop();
  expect(await first).toEqual({ kind: "completed" });
  expect(await second).toEqual({ kind: "delayed", delayMs: 0 });
});
