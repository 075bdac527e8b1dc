import type { LaneBatch, LaneResult } from "@junban/order-store";
import { describe, expect, test } from "vitest";
import { CommitGroups } from "../../apps/worker/src/commit-groups.ts";
import type { ReadyLane } from "../../apps/worker/src/commit-groups.ts";

/** A store whose transactions end when the test says so. */
class HeldStore {
  readonly begun: LaneBatch[][] = [];
  readonly #ends: (() => void)[] = [];

  apply(batches: readonly LaneBatch[]): Promise<readonly LaneResult[]> {
    this.begun.push([...batches]);
    const results = batches.map(({ lcid }): LaneResult => ({
      lcid,
      settled: [],
      trouble: null,
      released: 0,
    }));
    return new Promise((resolve) => {
      this.#ends.push(() => resolve(results));
    });
  }

  lanes(): string[][] {
    return this.begun.map((batches) => batches.map(({ lcid }) => lcid));
  }

  async end(transaction: number): Promise<void> {
    this.#ends[transaction]?.();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

function lane(lcid: string, given: Partial<ReadyLane> = {}): ReadyLane {
  const requests = [{ key: `${lcid}-1`, body: "{}", publishedAtMs: 0 }];
  return { lcid, requests, signal: new AbortController().signal, deadlineMs: () => 1000, ...given };
}

function groupsOver(
  store: HeldStore,
  given: { commitLanes?: number; commitParallel?: number; commitEvents?: number } = {},
) {
  return new CommitGroups({ store, commitLanes: 3, commitParallel: 1, commitEvents: 100, ...given });
}

describe("commit groups", () => {
  test("an idle process commits at once, alone", () => {
    const store = new HeldStore();
    void groupsOver(store).commit(lane("a"));
    expect(store.lanes()).toEqual([["a"]]);
  });

  test("lanes that become ready meanwhile share the next transaction, first come first served, in lcid order", async () => {
    const store = new HeldStore();
    const groups = groupsOver(store);
    for (const lcid of ["x", "d", "b", "c", "a"]) void groups.commit(lane(lcid));
    expect(store.lanes()).toEqual([["x"]]);
    await store.end(0);
    expect(store.lanes()).toEqual([["x"], ["b", "c", "d"]]);
    await store.end(1);
    expect(store.lanes()[2]).toEqual(["a"]);
  });

  test("no more transactions at once than allowed", async () => {
    const store = new HeldStore();
    const groups = groupsOver(store, { commitParallel: 2 });
    for (const lcid of ["a", "b", "c"]) void groups.commit(lane(lcid));
    expect(store.lanes()).toEqual([["a"], ["b"]]);
    await store.end(1);
    expect(store.lanes()[2]).toEqual(["c"]);
  });

  test("a transaction takes no more events than allowed, but always one lane", async () => {
    const store = new HeldStore();
    const groups = groupsOver(store, { commitEvents: 2 });
    const deep = Array.from({ length: 3 }, (_, at) => ({ key: `k${at}`, body: "{}", publishedAtMs: 0 }));
    for (const lcid of ["x", "a", "b"]) void groups.commit(lane(lcid, { requests: deep }));
    void groups.commit(lane("c"));
    await store.end(0);
    expect(store.lanes()[1]).toEqual(["a"]);
    await store.end(1);
    expect(store.lanes()[2]).toEqual(["b"]);
  });

  test("two batches of one lane are never in flight together, even if two turns of it exist", async () => {
    const store = new HeldStore();
    const groups = groupsOver(store, { commitParallel: 3 });
    for (const lcid of ["a", "a", "b"]) void groups.commit(lane(lcid));
    expect(store.lanes()).toEqual([["a"], ["b"]]);
    await store.end(0);
    expect(store.lanes()[2]).toEqual(["a"]);
  });

  test("a batch whose lease went while it waited is not begun", async () => {
    const store = new HeldStore();
    const groups = groupsOver(store);
    const lease = new AbortController();
    void groups.commit(lane("a"));
    const waiting = groups.commit(lane("b", { signal: lease.signal }));
    lease.abort();
    await store.end(0);
    expect(await waiting).toBeNull();
    expect(store.lanes()).toEqual([["a"]]);
  });

  test("a suspect is committed with nothing beside it, the least suspected first, and does not stop the others", async () => {
    const store = new HeldStore();
    const groups = groupsOver(store, { commitParallel: 3 });
    void groups.commit(lane("a"));
    void groups.commit(lane("worse", { suspect: { tries: 9, giveUpHead: false } }));
    void groups.commit(lane("bad", { suspect: { tries: 4, giveUpHead: false } }));
    void groups.commit(lane("b"));
    expect(store.lanes()).toEqual([["a"]]);
    await store.end(0);
    expect(store.lanes().slice(1)).toEqual([["bad"]]);
    await store.end(1);
    expect(store.lanes().slice(2)).toEqual([["b"]]);
    await store.end(2);
    expect(store.lanes().slice(3)).toEqual([["worse"]]);
  });

  test("the head to give up is given up in the store", () => {
    const store = new HeldStore();
    void groupsOver(store).commit(lane("a", { suspect: { tries: 10, giveUpHead: true } }));
    expect(store.begun[0]?.[0]).toMatchObject({ lcid: "a", giveUpHead: true, deadlineMs: 1000 });
  });

  test("closing begins nothing more and lets the transaction in flight end", async () => {
    const store = new HeldStore();
    const groups = groupsOver(store);
    const running = groups.commit(lane("a"));
    const waiting = groups.commit(lane("b"));
    groups.close();
    expect(await waiting).toBeNull();
    expect(await groups.commit(lane("c"))).toBeNull();
    await store.end(0);
    expect(await running).toMatchObject({ lcid: "a", trouble: null });
    expect(store.lanes()).toEqual([["a"]]);
  });

  test("a store that throws, or forgets a lane, is trouble and not success", async () => {
    const throwing = { apply: () => Promise.reject(new Error("broken")) };
    const options = { commitLanes: 3, commitParallel: 1, commitEvents: 100 };
    const thrown = await new CommitGroups({ store: throwing, ...options }).commit(lane("a"));
    expect(thrown).toMatchObject({ lcid: "a", settled: [], trouble: { kind: "unknown" } });
    const forgetful = { apply: () => Promise.resolve([]) };
    const forgotten = await new CommitGroups({ store: forgetful, ...options }).commit(lane("a"));
    expect(forgotten).toMatchObject({ lcid: "a", settled: [], trouble: { kind: "unknown" } });
  });
});
