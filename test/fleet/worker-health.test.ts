import { describe, expect, test } from "vitest";
import { Health } from "../../apps/worker/src/health.ts";
import type { HealthOptions } from "../../apps/worker/src/health.ts";

const answers = (): Promise<void> => Promise.resolve();
const refuses = (): Promise<void> => Promise.reject(new Error("refused"));
const hangs = (): Promise<void> => new Promise(() => {});

function healthWith(given: Partial<HealthOptions>): Health {
  return new Health({
    probeRedis: answers,
    probePostgres: answers,
    paused: () => false,
    stopping: () => false,
    quietMs: () => 0,
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
    ["Redis refuses", { probeRedis: refuses }, { redis: "silent" }],
    ["Redis hangs", { probeRedis: hangs }, { redis: "silent" }],
    ["Postgres refuses", { probePostgres: refuses }, { postgres: "silent" }],
    ["Postgres hangs", { probePostgres: hangs }, { postgres: "silent" }],
    ["fetching is paused", { paused: (): boolean => true }, { consumption: "paused" }],
    ["the process stops", { stopping: (): boolean => true }, { consumption: "stopping" }],
    ["connections live and nothing is fetched", { quietMs: (): number => 1000 }, { consumption: "stuck" }],
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
      probeRedis: () => {
        probes += 1;
        return Promise.resolve();
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => health.ready()));
    expect(probes).toBe(1);
  });
});
