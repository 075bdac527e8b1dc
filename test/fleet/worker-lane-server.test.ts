import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as pause } from "node:timers/promises";
import { LaneUnavailableError } from "@junban/handoff-lock";
import type { Handoff, HandOffOptions, Settlement, StandingRequest } from "@junban/handoff-lock";
import type { LaneBatch, LaneResult, LaneTrouble } from "@junban/order-store";
import { describe, expect, onTestFinished, test } from "vitest";
import { CommitGroups } from "../../apps/worker/src/commit-groups.ts";
import { JobLife } from "../../apps/worker/src/job.ts";
import { LaneServer } from "../../apps/worker/src/lane-server.ts";
import { LocalSeats } from "../../apps/worker/src/local-seats.ts";
import { PassingTrouble } from "../../apps/worker/src/passing-trouble.ts";
import type { ServedTurn } from "../../apps/worker/src/ports.ts";

const MOMENTS = ["junban.batch.read", "junban.batch.committed", "junban.batch.handed-off"] as const;

const NO_LINES = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function request(key: string): StandingRequest {
  return { key, body: "{}", publishedAtMs: 0 };
}

/** A turn over a line that lives in this object. */
class LineTurn implements ServedTurn {
  readonly lcid: string;
  readonly tries: number;
  readonly requests: readonly StandingRequest[];
  readonly lease = new AbortController();
  readonly signal = this.lease.signal;
  readonly handoffs: { keys: string[]; options: HandOffOptions }[] = [];
  left = false;
  broken = false;
  #line: StandingRequest[];
  readonly #batch: number;

  constructor(given: { line: string[]; batch?: number; tries?: number; lcid?: string }) {
    this.lcid = given.lcid ?? "a";
    this.#batch = given.batch ?? 10;
    this.tries = given.tries ?? 1;
    this.#line = given.line.map((key) => request(key));
    this.requests = this.#line.slice(0, this.#batch);
  }

  deadlineMs(): number {
    return performance.now() + 1000;
  }

  handOff(settlements: readonly Settlement[], options: HandOffOptions = {}): Promise<Handoff> {
    const keys = settlements.map(({ key }) => key);
    this.handoffs.push({ keys, options });
    if (this.broken) return Promise.reject(new LaneUnavailableError({ command: "handoff" }));
    this.#line = this.#line.filter(({ key }) => !keys.includes(key));
    if (this.#line.length === 0) return Promise.resolve({ kind: "released" });
    return Promise.resolve({ kind: "next", requests: this.#line.slice(0, options.batch ?? this.#batch) });
  }

  leave(): Promise<void> {
    this.left = true;
    return Promise.resolve();
  }
}

class Store {
  readonly batches: LaneBatch[] = [];
  troubleAt: { key: string; kind: LaneTrouble["kind"] } | null = null;
  whileCommitting: () => void = () => {};
  /** How long a transaction takes. */
  commitMs = 0;
  /** How long nothing was committed before each transaction but the first. */
  readonly idleMs: number[] = [];
  #lastEndMs: number | null = null;

  async apply(batches: readonly LaneBatch[]): Promise<readonly LaneResult[]> {
    if (this.#lastEndMs !== null) this.idleMs.push(performance.now() - this.#lastEndMs);
    this.batches.push(...batches);
    await (this.commitMs > 0 ? pause(this.commitMs) : Promise.resolve());
    this.whileCommitting();
    this.#lastEndMs = performance.now();
    return batches.map((batch) => this.#result(batch));
  }

  #result({ lcid, requests }: LaneBatch): LaneResult {
    const at = requests.findIndex(({ key }) => key === this.troubleAt?.key);
    const reached = at === -1 ? requests : requests.slice(0, at);
    const settled = reached.map(
      ({ key }) =>
        ({
          key,
          source: "/s",
          id: key,
          type: "line.added",
          outcome: "applied",
          reason: null,
          version: 1,
          repeat: false,
        }) as const,
    );
    const kind = this.troubleAt?.kind ?? "passing";
    return { lcid, settled, trouble: at === -1 ? null : { kind, error: new Error("trouble") }, released: 0 };
  }
}

function serverOver(
  store: Store,
  given: {
    quantumMs?: number;
    ping?: () => Promise<void>;
    laneBatch?: number;
  } = {},
) {
  const seats = new LocalSeats({ waitMs: 60_000 });
  const trouble = new PassingTrouble({
    waitMs: 1000,
    leaseMs: 10_000,
    probePostgres: given.ping ?? ((): Promise<void> => Promise.resolve()),
    probeRedis: () => Promise.resolve(),
    logger: NO_LINES,
  });
  const groups = new CommitGroups({
    store,
    commitLanes: 8,
    commitParallel: 1,
    commitEvents: 100,
  });
  const server = new LaneServer({
    seats,
    groups,
    trouble,
    quantumMs: given.quantumMs ?? 60_000,
    crashAlone: 3,
    crashGiveUp: 10,
    laneBatch: given.laneBatch ?? 10,
    observers: [],
  });
  return { server, seats, groups, trouble };
}

const keysOf = (batches: readonly LaneBatch[]): string[][] =>
  batches.map(({ requests }) => requests.map(({ key }) => key));

describe("lane server", () => {
  test("serves batch after batch under one turn until the line is empty", async () => {
    const store = new Store();
    const { server } = serverOver(store);
    const turn = new LineTurn({ line: ["1", "2", "3", "4", "5"], batch: 2 });
    expect(await server.serve(turn, "3")).toEqual({ kind: "empty", carriedOutcome: "applied" });
    expect(keysOf(store.batches)).toEqual([["1", "2"], ["3", "4"], ["5"]]);
    expect(turn.handoffs[1]?.options.own).toEqual(["3"]);
  });

  test("tells each batch's moments on diagnostics channels: read before it is committed, committed before it is handed off", async () => {
    const store = new Store();
    const turn = new LineTurn({ line: ["1", "2", "3"], batch: 2 });
    const told: string[] = [];
    const listen = (message: unknown, name: string | symbol): void => {
      const { lcid, keys } = message as { lcid: string; keys: string[] };
      const done = `${store.batches.length} begun, ${turn.handoffs.length} handed off`;
      told.push(`${String(name)} ${lcid} ${keys.join(",")}: ${done}`);
    };
    for (const name of MOMENTS) subscribe(name, listen);
    onTestFinished(() => {
      for (const name of MOMENTS) unsubscribe(name, listen);
    });
    await serverOver(store).server.serve(turn, null);
    expect(told).toEqual([
      "junban.batch.read a 1,2: 0 begun, 0 handed off",
      "junban.batch.committed a 1,2: 1 begun, 0 handed off",
      "junban.batch.handed-off a 1,2: 1 begun, 1 handed off",
      "junban.batch.read a 3: 1 begun, 1 handed off",
      "junban.batch.committed a 3: 2 begun, 1 handed off",
      "junban.batch.handed-off a 3: 2 begun, 2 handed off",
    ]);
  });

  test("offers the lane to others once the quantum is over, and not before", async () => {
    const patient = new LineTurn({ line: ["1", "2"], batch: 1 });
    await serverOver(new Store()).server.serve(patient, null);
    expect(patient.handoffs.map(({ options }) => options.yieldTurn)).toEqual([false, false]);
    const brief = new LineTurn({ line: ["1", "2"], batch: 1 });
    await serverOver(new Store(), { quantumMs: 0 }).server.serve(brief, null);
    expect(brief.handoffs.map(({ options }) => options.yieldTurn)).toEqual([true, true]);
  });

  test("passing trouble hands off what was settled and leaves; whoever sits steps back", async () => {
    const store = new Store();
    store.troubleAt = { key: "3", kind: "passing" };
    const { server, seats } = serverOver(store);
    const turn = new LineTurn({ line: ["1", "2", "3", "4"] });
    const serving = server.serve(turn, "4");
    const way = seats.approach("a", "3");
    expect(await serving).toEqual({ kind: "trouble", carriedOutcome: null });
    expect(turn.handoffs.map(({ keys }) => keys)).toEqual([["1", "2"]]);
    expect(turn.left).toBe(true);
    expect(way.kind === "sit" ? await way.end : null).toEqual({ kind: "stepBack" });
  });

  test("a carrier whose own event is committed is done, whatever happens to the turn afterwards", async () => {
    const { server } = serverOver(new Store());
    const turn = new LineTurn({ line: ["1", "2"], batch: 1 });
    turn.broken = true;
    expect(await server.serve(turn, "1")).toEqual({ kind: "trouble", carriedOutcome: "applied" });
    expect(turn.left).toBe(true);
  });

  test("while Postgres is away nothing is tried", async () => {
    const store = new Store();
    const { server, trouble } = serverOver(store, { ping: () => Promise.reject(new Error("refused")) });
    trouble.laneTrouble("b", { kind: "down", error: new Error("refused") });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const turn = new LineTurn({ line: ["1"] });
    expect(await server.serve(turn, null)).toEqual({ kind: "trouble", carriedOutcome: null });
    expect(store.batches).toEqual([]);
    expect(turn.left).toBe(true);
    trouble.stop();
  });

  test("after three vanished holders the requests are served one by one, for a whole batch", async () => {
    const store = new Store();
    const { server } = serverOver(store);
    const line = Array.from({ length: 13 }, (_, at) => String(at));
    await server.serve(new LineTurn({ line, tries: 4 }), null);
    expect(keysOf(store.batches).map((keys) => keys.length)).toEqual([
      ...Array.from({ length: 10 }, () => 1),
      3,
    ]);
    expect(store.batches.some(({ giveUpHead }) => giveUpHead === true)).toBe(false);
  });

  test("after ten vanished holders the head is given up, and only the head", async () => {
    const store = new Store();
    const { server } = serverOver(store);
    await server.serve(new LineTurn({ line: ["1", "2"], tries: 11 }), null);
    expect(store.batches.map(({ giveUpHead }) => giveUpHead === true)).toEqual([true, false]);
    expect(keysOf(store.batches)).toEqual([["1"], ["2"]]);
  });

  test("nine vanished holders give nothing up", async () => {
    const store = new Store();
    await serverOver(store).server.serve(new LineTurn({ line: ["1"], tries: 10 }), null);
    expect(store.batches.some(({ giveUpHead }) => giveUpHead === true)).toBe(false);
  });

  test("a lane takes whole batches while it is alone, and short ones while another lane is served too", async () => {
    const line = Array.from({ length: 300 }, (_none, number) => `${number}`);
    const alone = new LineTurn({ line, batch: 100 });
    await serverOver(new Store(), { laneBatch: 100 }).server.serve(alone, null);
    expect(alone.handoffs.map(({ keys }) => keys.length)).toEqual([100, 100, 100]);

    const { server } = serverOver(new Store(), { laneBatch: 100 });
    const beside = new LineTurn({ line, batch: 100 });
    const other = new LineTurn({ line: ["1"], lcid: "b" });
    await Promise.all([server.serve(beside, null), server.serve(other, null)]);
    const [first, ...rest] = beside.handoffs.map(({ keys }) => keys.length);
    expect(first).toBe(100);
    expect(rest.slice(0, -1).every((size) => size === 32)).toBe(true);
    expect(rest).toHaveLength(7);
    // Asked for, and not only taken: what a handoff brings in vain is paid for as well.
    expect(beside.handoffs.map(({ options }) => options.batch)).toEqual(beside.handoffs.map(() => 32));
  });

  test("a lane takes no more than a short batch of what it was handed before another one came", async () => {
    const line = Array.from({ length: 300 }, (_none, number) => `${number}`);
    const store = new Store();
    const { server } = serverOver(store, { laneBatch: 100 });
    const turn = new LineTurn({ line, batch: 100 });
    const handOff = turn.handOff.bind(turn);
    turn.handOff = async (settlements, options): Promise<Handoff> => {
      const answer = await handOff(settlements, options);
      // The handoff has asked for a whole batch, and is on its way back.
      if (turn.handoffs.length === 1) server.expectOthers();
      return answer;
    };
    expect(await server.serve(turn, null)).toEqual({ kind: "empty", carriedOutcome: null });
    expect(turn.handoffs.map(({ keys }) => keys.length)).toEqual([100, 32, 32, 32, 32, 32, 32, 8]);
    expect(keysOf(store.batches).flat()).toEqual(line);
  });

  test("a lane makes room as soon as a job of another one is on its way", async () => {
    const line = Array.from({ length: 200 }, (_none, number) => `${number}`);
    const store = new Store();
    const { server, seats, trouble } = serverOver(store, { laneBatch: 100 });
    const jobs = new JobLife({
      seats,
      server,
      trouble,
      lanes: { enter: () => new Promise(() => {}), stand: () => new Promise(() => {}) },
      observer: { steppedBack: () => {}, unusable: () => {} },
    });
    const data = { specversion: "1.0", id: "1", source: "/s", type: "order.placed", lcid: "b", data: {} };
    store.whileCommitting = (): void => {
      if (store.batches.length === 1) {
        void jobs.process({ id: "1", family: "inventory", name: "order.placed", data, stepsBack: 0 });
      }
    };
    const turn = new LineTurn({ line, batch: 100 });
    await server.serve(turn, null);
    expect(turn.handoffs.map(({ keys }) => keys.length)).toEqual([100, 32, 32, 32, 4]);
  });

  test("a deep lane stands aside as long as its transaction took, while others are there", async () => {
    const store = new Store();
    const { server } = serverOver(store, { laneBatch: 100 });
    store.commitMs = 30;
    store.whileCommitting = (): void => server.expectOthers();
    const line = Array.from({ length: 32 + 3 * 32 }, (_none, number) => `${number}`);
    await server.serve(new LineTurn({ line, batch: 32 }), null);
    expect(store.idleMs).toHaveLength(3);
    // Timers may fire up to a millisecond early.
    expect(Math.min(...store.idleMs)).toBeGreaterThanOrEqual(29);
  });

  test("a deep lane stands aside no longer than 50 ms", async () => {
    const store = new Store();
    const { server } = serverOver(store, { laneBatch: 100 });
    store.commitMs = 600;
    store.whileCommitting = (): void => server.expectOthers();
    const line = Array.from({ length: 2 * 32 }, (_none, number) => `${number}`);
    await server.serve(new LineTurn({ line, batch: 32 }), null);
    expect(store.idleMs).toHaveLength(1);
    expect(store.idleMs[0]).toBeLessThan(550);
  });

  test("a lane stands aside neither while it is alone, nor with less in it than a short batch", async () => {
    const line = Array.from({ length: 2 * 32 }, (_none, number) => `${number}`);
    for (const [batch, isAlone] of [
      [32, true],
      [31, false],
    ] as const) {
      const store = new Store();
      const { server } = serverOver(store, { laneBatch: 100 });
      // As long as the longest that a lane stands aside, so that this is told from a busy machine.
      store.commitMs = 50;
      if (!isAlone) store.whileCommitting = (): void => server.expectOthers();
      await server.serve(new LineTurn({ line, batch }), null);
      expect(Math.min(...store.idleMs)).toBeLessThan(40);
    }
  });

  test("nobody is expected where no lane is served", async () => {
    const line = Array.from({ length: 300 }, (_none, number) => `${number}`);
    const { server } = serverOver(new Store(), { laneBatch: 100 });
    server.expectOthers();
    const turn = new LineTurn({ line, batch: 100 });
    await server.serve(turn, null);
    expect(turn.handoffs.map(({ keys }) => keys.length)).toEqual([100, 100, 100]);
  });

  test("stopping finishes the transaction, hands off what it settled, and leaves", async () => {
    const store = new Store();
    const { server } = serverOver(store);
    store.whileCommitting = (): void => server.stop();
    const turn = new LineTurn({ line: ["1", "2", "3"], batch: 1 });
    expect(await server.serve(turn, "3")).toEqual({ kind: "stopped", carriedOutcome: null });
    expect(turn.handoffs.map(({ keys }) => keys)).toEqual([["1"]]);
    expect(turn.left).toBe(true);
  });
});
