import { describe, expect, test } from "vitest";
import { Health } from "../../apps/worker/src/health.ts";
import type { HealthOptions } from "../../apps/worker/src/health.ts";

const answers = (): Promise<void> => Promise.resolve();
const refuses = (): Promise<never> => Promise.reject(new Error("refused"));
const hangs = (): Promise<never> => new Promise(() => {});

function healthWith(given: Partial<HealthOptions>): Health {
  return new Health({
    pausedQueues: () => Promise.resolve([]),
    probePostgres: answers,
    mayEvict: () => false,
    postgresAway: () => false,
    stopping: () => false,
    refusal: () => null,
    quietMs: () => 0,
    failingMs: () => 0,
    stuckMs: 1000,
    limitMs: 50,
    goodForMs: 0,
    ...given,
  });
}

describe("readiness", () => {
  test("a process whose services answer and whose jobs move is ready", async () => {
    expect(await healthWith({}).ready()).toEqual({
      ok: true,
      detail: { redis: "answers", postgres: "answers", consumption: "moving" },
    });
  });

  test.each([
    ["Redis refuses", { pausedQueues: refuses }, { redis: "silent" }],
    ["Redis hangs", { pausedQueues: hangs }, { redis: "silent" }],
    ["Redis may evict keys", { mayEvict: (): boolean => true }, { redis: "may-evict" }],
    ["Postgres refuses", { probePostgres: refuses }, { postgres: "silent" }],
    ["Postgres hangs", { probePostgres: hangs }, { postgres: "silent" }],
    [
      "fetching waits for Postgres",
      { postgresAway: (): boolean => true },
      { consumption: "paused", why: "POSTGRES_AWAY" },
    ],
    [
      "somebody paused a queue",
      { pausedQueues: () => Promise.resolve(["cancel" as const]) },
      { consumption: "paused", why: "QUEUES_PAUSED", pausedQueues: ["cancel"] },
    ],
    [
      "Redis refuses to hand out jobs",
      { refusal: () => "REDIS_OUT_OF_MEMORY" as const },
      { consumption: "refused", why: "REDIS_OUT_OF_MEMORY" },
    ],
    ["the process stops", { stopping: (): boolean => true }, { consumption: "stopping" }],
    [
      "connections live and nothing is fetched",
      { quietMs: (): number => 1000 },
      { consumption: "stuck", why: "NOTHING_FETCHED" },
    ],
    [
      "jobs are fetched and none gets its row",
      { failingMs: (): number => 1000 },
      { consumption: "stuck", why: "NOTHING_SETTLED" },
    ],
  ] satisfies [string, Partial<HealthOptions>, object][])(
    "it is not when %s",
    async (_why, given, detail) => {
      expect(await healthWith(given).ready()).toMatchObject({ ok: false, detail });
    },
  );

  test("many who ask cost as much as one", async () => {
    let probes = 0;
    const health = healthWith({
      goodForMs: 60_000,
      pausedQueues: () => {
        probes += 1;
        return Promise.resolve([]);
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => health.ready()));
    expect(probes).toBe(1);
  });
});
