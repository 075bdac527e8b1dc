import { startSandbox, type Sandbox } from "@junban/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bullmqNoop } from "../../apps/bench/src/contenders/bullmq-noop.ts";
import type { Contender } from "../../apps/bench/src/contenders/contender.ts";
import { junban } from "../../apps/bench/src/contenders/junban.ts";
import { pgRowLock } from "../../apps/bench/src/contenders/pg-row-lock.ts";
import type { RecoveryRow } from "../../apps/bench/src/results.ts";
import type { Aftermath } from "../../apps/bench/src/workloads/mishaps/aftermath.ts";
import { armsOf } from "../../apps/bench/src/workloads/mishaps/arms.ts";
import { rowsOf } from "../../apps/bench/src/workloads/mishaps/rows.ts";
import { recovery } from "../../apps/bench/src/workloads/recovery.ts";
import { retries } from "../../apps/bench/src/workloads/retries.ts";
import type { Stage } from "../../apps/bench/src/workloads/workload.ts";

/** More than the short lease by far, and less than the one by default: a dead holder keeps the key for longer. */
const WITHIN_MS = 8_000;
const RUN_WITHIN_MS = 180_000;
const EVENTS = 20;

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ postgres: { fast: true }, redis: { appendOnly: false } });
});

afterAll(async () => {
  await sandbox.stop();
});

function stageOf(contenders: readonly Contender[], options: Partial<Stage> = {}): Stage {
  return {
    sandbox,
    machine: { cores: 1, memoryBytes: 1, node: "", postgres: "", redis: "", system: "" },
    contenders,
    events: EVENTS,
    rounds: 1,
    seed: 1,
    withinMs: WITHIN_MS,
    say: () => undefined,
    signal: new AbortController().signal,
    ...options,
  };
}

function rowOf<Row extends RecoveryRow>(
  rows: readonly Row[],
  wanted: Pick<RecoveryRow, "name" | "settings">,
): Row | undefined {
  return rows.find(({ name, settings }) => name === wanted.name && settings === wanted.settings);
}

test(
  "when the holder of a key is killed, the key moves again after its lease, in order, and not before; within a bound is an answer",
  async () => {
    const said: string[] = [];
    const run = await recovery.run(
      stageOf([junban, pgRowLock, bullmqNoop], { say: (line) => said.push(line) }),
    );
    expect(run.results.map(({ name, settings }) => [name, settings])).toEqual([
      ["junban", "defaults"],
      ["junban", "best"],
      ["pg-row-lock", "defaults"],
      ["pg-row-lock", "best"],
    ]);
    const best = rowOf(run.results, { name: "junban", settings: "best" });
    expect(best).toMatchObject({ decided: EVENTS, of: EVENTS, inversions: 0, doubled: 0, leaseMs: 2_000 });
    // Its lease was renewed at most a third of it before the kill.
    expect(best?.movesAgainAfterMs).toBeGreaterThan(1_000);
    const defaults = rowOf(run.results, { name: "junban", settings: "defaults" });
    // A third of ten seconds may be over by the kill, so it moves late in the bound or after it.
    expect(defaults?.movesAgainAfterMs ?? WITHIN_MS).toBeGreaterThan(5_000);
    expect(defaults).toMatchObject({ withinMs: WITHIN_MS, inversions: 0, doubled: 0 });
    expect(rowOf(run.results, { name: "pg-row-lock", settings: "best" })).toMatchObject({ doubled: 0 });
    expect(said).toHaveLength(run.results.length);
    const table = recovery.table(run);
    expect(table).toHaveLength(run.results.length + 2);
    expect(table.join("\n")).toContain(`${EVENTS} of ${EVENTS}`);
  },
  RUN_WITHIN_MS,
);

test(
  "when one event fails once, nothing of Junban's overtakes it and nothing is lost; where no order is kept the others go by",
  async () => {
    const run = await retries.run(stageOf([junban, pgRowLock], { withinMs: 60_000 }));
    for (const settings of ["defaults", "best"] as const) {
      const own = rowOf(run.results, { name: "junban", settings });
      expect(own).toMatchObject({ decided: EVENTS, of: EVENTS, inversions: 0, doubled: 0, overtaken: 0 });
      // The store alone would have got over it in a few hundredths of a second: it was the queue's retry.
      expect(own?.movesAgainAfterMs).toBeGreaterThan(50);
      expect(rowOf(run.results, { name: "pg-row-lock", settings })).toMatchObject({
        decided: EVENTS,
        of: EVENTS,
      });
    }
    expect(retries.table(run)[1]).toContain("overtaken by");
  },
  RUN_WITHIN_MS,
);

test("a run that is called off ends with the reason", async () => {
  const calling = new AbortController();
  const stage = stageOf([junban], { signal: calling.signal, withinMs: 60_000 });
  const running = recovery.run(stage);
  calling.abort(new Error("called off"));
  await expect(running).rejects.toThrow("called off");
});

describe("rounds of one arm", () => {
  const good: Aftermath = {
    movesAgainAfterMs: 2_000,
    decided: EVENTS,
    of: EVENTS,
    inversions: 0,
    doubled: 0,
    overtaken: 0,
  };
  const rowFrom = (rounds: readonly Aftermath[]): RecoveryRow | undefined => {
    const [arm] = armsOf(junban);
    return arm === undefined ? undefined : rowsOf([{ arm, rounds }], stageOf([junban]))[0];
  };

  test("count by the slowest, and sum up what was counted", () => {
    const worse = { ...good, movesAgainAfterMs: 3_000, inversions: 2, decided: EVENTS - 1 };
    expect(rowFrom([good, worse, good])).toMatchObject({
      movesAgainAfterMs: 3_000,
      inversions: 2,
      decided: 3 * EVENTS - 1,
      of: 3 * EVENTS,
    });
  });

  test("count as not moved when one did not", () => {
    expect(rowFrom([good, { ...good, movesAgainAfterMs: null }])?.movesAgainAfterMs).toBeNull();
  });
});
