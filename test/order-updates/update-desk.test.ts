import { describe, expect, onTestFinished, test, vi } from "vitest";
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

describe("what has to wait is looked at again", () => {
  function fakeClock(): void {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
  }

  /** A desk at which version `version` of an order waits behind all from `due` on. */
  function lineAt(): {
    look: (place: { due: number; version: number }) => Promise<number>;
    later: (ms: number) => void;
  } {
    fakeClock();
    let missing = 0;
    const { desk } = deskAt(async () => ({ kind: "waiting", missing }));
    return {
      look: async ({ due, version }) => {
        missing = version - due;
        const end = await desk.process({ data: { lcid: "A", version }, stepsBack: 0 });
        return end.kind === "delayed" ? end.delayMs : -1;
      },
      later: (ms) => void vi.advanceTimersByTime(ms),
    };
  }

  test("the later, the more is before it and the longer its order stands still", async () => {
    const { look, later } = lineAt();
    expect(await look({ due: 1, version: 2 })).toBe(100);
    expect(await look({ due: 1, version: 6 })).toBe(500);
    later(1_600);
    expect(await look({ due: 1, version: 2 })).toBe(200);
    later(3_600_000);
    expect(await look({ due: 1, version: 2 })).toBe(2_000);
  });

  test("soon once its order moves, however long it has stood", async () => {
    const { look, later } = lineAt();
    await look({ due: 1, version: 3 });
    later(3_600_000);
    expect(await look({ due: 1, version: 3 })).toBe(2_000);
    expect(await look({ due: 2, version: 3 })).toBe(100);
  });

  test("also when another consumer has just been at its order", async () => {
    fakeClock();
    const passages: Passage[] = [{ kind: "busy" }, { kind: "busy" }, { kind: "waiting", missing: 1 }];
    const { desk } = deskAt(async () => passages.shift() ?? HANDLED);
    const look = async (): Promise<unknown> =>
      desk.process({ data: { lcid: "A", version: 9 }, stepsBack: 50 });
    expect(await look()).toEqual({ kind: "delayed", delayMs: 100 });
    vi.advanceTimersByTime(8_000);
    expect(await look()).toEqual({ kind: "delayed", delayMs: 600 });
    expect(await look()).toEqual({ kind: "delayed", delayMs: 100 });
  });
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
