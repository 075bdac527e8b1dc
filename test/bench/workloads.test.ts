import { fileURLToPath } from "node:url";
import { createOrderStore, type OrderReport } from "@junban/order-store";
import { hotStory } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { startSandbox, type Sandbox } from "@junban/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bullmqNoop } from "../../apps/bench/src/contenders/bullmq-noop.ts";
import type { Contender } from "../../apps/bench/src/contenders/contender.ts";
import { junban } from "../../apps/bench/src/contenders/junban.ts";
import { pgRowLock } from "../../apps/bench/src/contenders/pg-row-lock.ts";
import { sqlCeiling } from "../../apps/bench/src/contenders/sql-ceiling.ts";
import type { Decision } from "../../apps/bench/src/rounds/live.ts";
import { fairnessOf } from "../../apps/bench/src/workloads/fairness.ts";
import { gatewayOf } from "../../apps/bench/src/workloads/gateway.ts";
import { growthOf, growthRatiosOf } from "../../apps/bench/src/workloads/growth.ts";
import { historyOf } from "../../apps/bench/src/workloads/history.ts";
import { latencyOf } from "../../apps/bench/src/workloads/latency.ts";
import { outlasts, singlesOf } from "../../apps/bench/src/workloads/measuring/flood.ts";
import { dueAfter, offer } from "../../apps/bench/src/workloads/measuring/pacing.ts";
import { copyOf, databaseWithPast, inboxRows } from "../../apps/bench/src/workloads/measuring/past.ts";
import { pastsOf } from "../../apps/bench/src/workloads/measuring/pasts.ts";
import { medianSpread, spreadOf, tookMsOf } from "../../apps/bench/src/workloads/measuring/spread.ts";
import { inTurn } from "../../apps/bench/src/workloads/measuring/turns.ts";
import { memoryOf } from "../../apps/bench/src/workloads/memory.ts";
import { publishOf } from "../../apps/bench/src/workloads/publish.ts";
import { relayOf } from "../../apps/bench/src/workloads/relay.ts";
import type { Stage } from "../../apps/bench/src/workloads/workload.ts";

const SOURCE = { NODE_OPTIONS: "--conditions=@junban/source --import=tsx" };
const signal = new AbortController().signal;

/** Its process runs from source, so that the tests need nothing built. */
function fromSource(contender: Contender, env: Readonly<Record<string, string>> = {}): Contender {
  const script = contender.script.replace("/dist/", "/src/").replace(/\.js$/u, ".ts");
  return { ...contender, script, env: { ...contender.env, ...SOURCE, ...env } };
}

describe("what is measured with", () => {
  test("events fall due at a steady pace, the first at once, and never more than there are", () => {
    const pace = { perSecond: 200, total: 50 };
    expect([0, 4, 5, 9, 10, 245, 10_000].map((elapsedMs) => dueAfter(elapsedMs, pace))).toEqual([
      1, 1, 2, 2, 3, 50, 50,
    ]);
  });

  test("a paced publication keeps the order, has one call under way, and says how fast it was", async () => {
    const taken: EventEnvelope[] = [];
    let underWay = 0;
    let most = 0;
    const publish = async (some: readonly EventEnvelope[]): Promise<void> => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      taken.push(...some);
      underWay -= 1;
    };
    const events = hotStory({ lcid: "P-1", events: 40, seed: 1 });
    const kept = await offer({ publish }, events, { perSecond: 400, signal });
    expect(taken).toEqual(events);
    expect(most).toBe(1);
    expect(kept.perSecond).toBeGreaterThan(0);
    expect(kept.perSecond).toBeLessThanOrEqual(400);
  });

  test("an event that fell due while a call was under way is counted from then, any other from when it was handed over", async () => {
    const handedAtMs: number[] = [];
    let calls = 0;
    const freeAtMs: number[] = [];
    const publish = async (some: readonly EventEnvelope[]): Promise<void> => {
      const atMs = Date.now();
      handedAtMs.push(...some.map(() => atMs));
      calls += 1;
      // The first call lasts while most of the others fall due.
      await new Promise((resolve) => setTimeout(resolve, calls === 1 ? 60 : 0));
      freeAtMs.push(...some.map(() => Date.now()));
    };
    const events = hotStory({ lcid: "P-1", events: 10, seed: 1 });
    const { sinceMs } = await offer({ publish }, events, { perSecond: 100, signal });
    expect(sinceMs).toHaveLength(10);
    // Clocks of whole milliseconds.
    for (const [index, atMs] of handedAtMs.entries()) expect(sinceMs[index]).toBeLessThanOrEqual(atMs + 2);
    // The second was due 10 ms after the first, and went with the call behind the first.
    expect(Number(sinceMs[1]) - Number(sinceMs[0])).toBeLessThan(10.1);
    expect(sinceMs[1]).toBeLessThan(Number(freeAtMs[0]));
    const sorted = sinceMs.toSorted((one, other) => one - other);
    expect(sinceMs).toEqual(sorted);
    const decided = (index: number, decidedAtMs: number): Decision => {
      const { source, id, lcid } = events[index] as EventEnvelope;
      return { source, id, lcid, seq: index + 1, outcome: "applied", decidedAtMs };
    };
    const took = tookMsOf(events, { sinceMs: [100, 110] }, [decided(1, 125), decided(0, 99)]);
    expect(took).toEqual([15, 0]);
  });

  test("a paced publication ends when the run is ended", async () => {
    const ending = new AbortController();
    const publish = async (): Promise<void> => ending.abort(new Error("enough"));
    const events = hotStory({ lcid: "P-1", events: 40, seed: 1 });
    await expect(offer({ publish }, events, { perSecond: 1, signal: ending.signal })).rejects.toThrow();
  });

  test("a spread is made of times that were measured; a median of rounds takes each figure by itself", () => {
    const spread = spreadOf(Array.from({ length: 100 }, (_, index) => index + 1));
    expect(spread).toEqual({ p50Ms: 50, p90Ms: 90, p99Ms: 99, maxMs: 100 });
    expect(medianSpread([spread, spreadOf([7]), spreadOf([60])])).toEqual({
      p50Ms: 50,
      p90Ms: 60,
      p99Ms: 60,
      maxMs: 60,
    });
  });

  test("another one begins each round", () => {
    expect([0, 1, 2, 3].map((round) => inTurn(["a", "b", "c"], round).join(""))).toEqual([
      "abc",
      "bca",
      "cab",
      "abc",
    ]);
  });

  test("a flood outlasts the singles only if some of it was still to be decided when the last of them was", () => {
    const at = (...each: readonly number[]) => each.map((decidedAtMs) => ({ decidedAtMs }));
    const singles = at(10, 30, 20);
    expect(outlasts({ published: 3, decisions: at(5, 25, 31) }, singles)).toBe(true);
    expect(outlasts({ published: 3, decisions: at(5, 25) }, singles)).toBe(true);
    expect(outlasts({ published: 3, decisions: at(5, 25, 30) }, singles)).toBe(false);
  });

  test("growth compares with the fewest processes and the fewest events", () => {
    const row = (processes: number, events: number, eventsPerSecond: number) =>
      ({ workload: "zipf", processes, events, eventsPerSecond, inversions: 0, lost: 0 }) as const;
    expect(growthRatiosOf([row(1, 10, 100), row(2, 10, 150), row(1, 100, 90), row(2, 100, 160)])).toEqual({
      "zipf ×2 processes": 1.5,
      "zipf ×10 events": 0.9,
    });
  });

  test("singles are the first event of as many orders", () => {
    const singles = singlesOf({ others: 20, seed: 1 });
    expect(singles.map(({ type }) => type)).toEqual(Array.from({ length: 20 }, () => "order.placed"));
    expect(new Set(singles.map(({ lcid }) => lcid)).size).toBe(20);
  });
});

describe("on real servers", { timeout: 240_000 }, () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ postgres: { fast: true }, redis: { appendOnly: false } });
  });
  afterAll(async () => sandbox.stop());

  function stageOf(options: Partial<Stage> & Pick<Stage, "events">): Stage & { readonly said: string[] } {
    const said: string[] = [];
    return {
      sandbox,
      machine: { cores: 2, memoryBytes: 1, node: "", postgres: "", redis: "", system: "" },
      contenders: [fromSource(junban)],
      rounds: 1,
      seed: 1,
      withinMs: 60_000,
      say: (line) => said.push(line),
      signal,
      said,
      ...options,
    };
  }

  test("fairness measures singles without a flood, beside a standing one and beside one that comes", async () => {
    // One event a commit, so that a flood of a hundred takes its time.
    const slow = fromSource(junban, { JUNBAN_LANE_BATCH: "1", JUNBAN_COMMIT_LANES: "1" });
    const stage = stageOf({ events: 100, contenders: [slow] });
    const workload = fairnessOf({ others: 4, perSecond: 500, floodCall: 1, doublings: 5, warmUp: 20 });
    const run = await workload.run(stage);
    expect(run.results.map(({ arm, others }) => [arm, others])).toEqual([
      ["quiet", 4],
      ["flooded", 4],
      ["flooding", 4],
    ]);
    for (const { p50Ms, p99Ms, maxMs } of run.results) {
      expect(p50Ms).toBeGreaterThanOrEqual(0);
      expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
      expect(maxMs).toBe(p99Ms);
    }
    expect(Object.keys(run.ratios)).toEqual(["p50", "p99", "p50Flooding", "p99Flooding"]);
    expect(stage.said.length).toBeGreaterThanOrEqual(3);
    expect(workload.table(run)).toHaveLength(1 + 4 + 2);
  });

  test("fairness refuses a flood that is over before the singles are", async () => {
    const stage = stageOf({ events: 1 });
    const workload = fairnessOf({ others: 2, perSecond: 2, floodCall: 1, doublings: 1, warmUp: 0 });
    await expect(workload.run(stage)).rejects.toMatchObject({ code: "FLOOD_ENDED", flood: 2, others: 2 });
    expect(stage.said.join("\n")).toContain("a flood of 1 event was over too soon");
  });

  test("both inboxes of history belong to orders that stand alike", async () => {
    const inboxes = pastsOf({
      order: { short: 1, long: 2 },
      inbox: { short: 5, long: 60 },
      open: { short: 1, long: 2 },
      events: 10,
      seed: 1,
    }).filter(({ arm }) => arm === "inbox");
    const reports: (readonly (Partial<OrderReport> | null)[])[] = [];
    for (const { orders, rows } of inboxes) {
      const databaseUrl = await databaseWithPast(sandbox, orders, { signal, onProgress: () => undefined });
      const copy = await copyOf(sandbox, databaseUrl);
      expect(await inboxRows(copy)).toBe(rows);
      const store = createOrderStore({ databaseUrl: copy, worker: "test" });
      expect((await store.summary()).eventsByOutcome).toEqual({ applied: rows });
      const found = await Promise.all(orders.map(async ({ lcid }) => store.readOrder(lcid)));
      reports.push(found.map((report) => report && standingOf(report)));
      await store.close();
    }
    expect(reports[0]).not.toContain(null);
    expect(reports[1]).toEqual(reports[0]);
  });

  test("the orders that get further events stand alike beside few open orders and beside many", () => {
    const [few, many] = pastsOf({
      order: { short: 1, long: 2 },
      inbox: { short: 1, long: 2 },
      open: { short: 3, long: 10 },
      events: 10,
      seed: 1,
    }).filter(({ arm }) => arm === "open");
    expect(many?.further).toEqual(few?.further);
    expect(many?.touching).toEqual(few?.touching);
    expect(few?.further).toHaveLength(10);
    const firsts = (many?.orders ?? []).map(({ lcid, events }) => ({ lcid, events: events() }));
    expect(few?.orders.map(({ lcid, events }) => ({ lcid, events: events() }))).toEqual(firsts.slice(0, 3));
    expect(firsts.every(({ lcid, events }) => events.length === 1 && events[0]?.lcid === lcid)).toBe(true);
    expect(new Set(firsts.map(({ events }) => events[0]?.id)).size).toBe(10);
  });

  test("history gives an order and an inbox a short past and a long one, and open orders company, and loses nothing", async () => {
    const workload = historyOf({
      order: { short: 10, long: 150 },
      inbox: { short: 10, long: 120 },
      open: { short: 10, long: 40 },
      warmUp: 20,
    });
    const run = await workload.run(stageOf({ events: 40 }));
    expect(run.results.map(({ arm, past }) => [arm, past])).toEqual([
      ["order", 10],
      ["order", 150],
      ["inbox", 10],
      ["inbox", 120],
      ["open", 10],
      ["open", 40],
    ]);
    expect(run.results.every(({ eventsPerSecond }) => eventsPerSecond > 0)).toBe(true);
    expect(run.ratios["order"]).toBeGreaterThan(0);
    expect(run.ratios["inbox"]).toBeGreaterThan(0);
    expect(run.ratios["open"]).toBeGreaterThan(0);
    expect(workload.table(run)).toHaveLength(1 + 7);
  });

  test("growth works off each backlog with fewer and more processes, in order and whole", async () => {
    const workload = growthOf({ processes: [1, 2], factors: [1], warmUp: 0 });
    const run = await workload.run(stageOf({ events: 60 }));
    expect(run.results.map(({ workload: of, events, processes }) => [of, events, processes])).toEqual([
      ["uniform", 60, 1],
      ["uniform", 60, 2],
      ["zipf", 60, 1],
      ["zipf", 60, 2],
    ]);
    expect(run.results.every(({ inversions, lost }) => inversions === 0 && lost === 0)).toBe(true);
    expect(workload.table(run)).toHaveLength(1 + 5 + 2);
  });

  test("memory looks at one process after a tenth of the events and after all", async () => {
    const workload = memoryOf({ chunk: 50, warmUp: 0 });
    const run = await workload.run(stageOf({ events: 200 }));
    expect(run.results.map(({ events }) => events)).toEqual([20, 200]);
    expect(run.results.every(({ residentBytes }) => residentBytes > 10_000_000)).toBe(true);
    expect(run.ratios["resident"]).toBeGreaterThan(0);
    expect(workload.table(run)).toHaveLength(1 + 3 + 1);
  });

  test("relay lets a relay pass on all that a worker has committed", async () => {
    const script = fileURLToPath(new URL("../../apps/relay/src/main.ts", import.meta.url));
    const workload = relayOf({ warmUp: 0, script });
    const run = await workload.run(stageOf({ events: 700 }));
    expect(run.results.map(({ arm }) => arm)).toEqual(["worker", "relay"]);
    expect(run.results.every(({ eventsPerSecond }) => eventsPerSecond > 0)).toBe(true);
    expect(run.ratios["relay"]).toBeGreaterThan(0);
    expect(workload.table(run)).toHaveLength(1 + 3 + 1);
  });

  test("gateway puts the same events in through a gateway and through the publisher", async () => {
    const script = fileURLToPath(new URL("../../apps/gateway/src/main.ts", import.meta.url));
    const workload = gatewayOf({ warmUp: 64, script });
    const run = await workload.run(stageOf({ events: 130 }));
    expect(run.results.map(({ door, at }) => [door, at])).toEqual([
      ["sdk", 1],
      ["sdk", 64],
      ["gateway", 1],
      ["gateway", 64],
    ]);
    expect(run.results.every(({ p50Ms, p99Ms }) => p99Ms >= p50Ms && p50Ms > 0)).toBe(true);
    expect(Object.keys(run.ratios)).toEqual(["rate at 1", "p99 at 1", "rate at 64", "p99 at 64"]);
    expect(workload.table(run)).toHaveLength(1 + 5 + 4);
  });

  test("latency offers each contender a share of its own rate", async () => {
    const contenders = [junban, pgRowLock, sqlCeiling].map((contender) => fromSource(contender));
    const workload = latencyOf({ loads: [0.3, 0.7], offeredMs: 200, warmUp: 0 });
    const run = await workload.run(stageOf({ events: 40, contenders }));
    expect(run.results.map(({ name, load }) => [name, load])).toEqual([
      ["junban", 0.3],
      ["junban", 0.7],
      ["pg-row-lock", 0.3],
      ["pg-row-lock", 0.7],
    ]);
    for (const row of run.results) {
      expect(row.lost).toBe(0);
      expect(row.offeredPerSecond).toBeGreaterThan(0);
      expect(row.p50Ms).toBeLessThanOrEqual(row.p99Ms);
      expect(row.p99Ms).toBeLessThanOrEqual(row.maxMs);
    }
    expect(run.results.filter(({ name }) => name === "junban").map(({ inversions }) => inversions)).toEqual([
      0, 0,
    ]);
    expect(Object.keys(run.ratios)).toContain("pg-row-lock p99 at 70 %");
    expect(workload.table(run)).toHaveLength(1 + 5);
  });

  test("publish puts events in one by one, many calls at once and many a call", async () => {
    const contenders = [junban, bullmqNoop].map((contender) => fromSource(contender));
    const workload = publishOf({ warmUp: 0 });
    const run = await workload.run(stageOf({ events: 100, contenders }));
    expect(run.results.map(({ name, at }) => [name, at])).toEqual(
      ["junban", "bullmq-noop"].flatMap((name) => [1, 256, 2_000].map((at) => [name, at])),
    );
    expect(run.results.every(({ eventsPerSecond }) => eventsPerSecond > 0)).toBe(true);
    expect(Object.keys(run.ratios)).toEqual([1, 256, 2_000].map((at) => `bullmq-noop at ${at}`));
    expect(workload.table(run)).toHaveLength(1 + 7);
  });

  test("a run that is ended ends its workload", async () => {
    const ending = new AbortController();
    ending.abort(new Error("enough"));
    const stage = stageOf({ events: 10, signal: ending.signal });
    await expect(memoryOf({ chunk: 10, warmUp: 0 }).run(stage)).rejects.toThrow("enough");
  });
});

/** An order without what tells how long its past is. */
function standingOf(report: OrderReport): Partial<OrderReport> {
  const { version: _version, arrivals: _arrivals, updatedAt: _updated, placedAt: _placed, ...rest } = report;
  return { ...rest, lines: report.lines.map((line) => ({ ...line, peak: 0 })) };
}
