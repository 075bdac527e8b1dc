import { OutOfMemoryError } from "@junban/handoff-lock";
import { describe, expect, test } from "vitest";
import { PassingTrouble } from "../../apps/worker/src/passing-trouble.ts";
import { eventually } from "../support/index.ts";

class Lines {
  readonly errors: string[] = [];
  readonly infos: string[] = [];
  debug = (): void => {};
  readonly warnings: string[] = [];
  warn = (_fields: object, line: string): number => this.warnings.push(line);
  info = (_fields: object, line: string): number => this.infos.push(line);
  error = (_fields: object, line: string): number => this.errors.push(line);
}

function troubleWith(given: {
  postgres?: () => Promise<void>;
  redis?: () => Promise<void>;
  leaseMs?: number;
  random?: () => number;
}) {
  const logger = new Lines();
  const answers = (): Promise<void> => Promise.resolve();
  const trouble = new PassingTrouble({
    waitMs: 1000,
    leaseMs: given.leaseMs ?? 10_000,
    probePostgres: given.postgres ?? answers,
    probeRedis: given.redis ?? answers,
    logger,
    random: given.random ?? ((): number => 1),
  });
  return { trouble, logger };
}

const passing = { kind: "passing", error: new Error("try again") } as const;

describe("passing trouble", () => {
  test("the backoff starts at the wait, doubles, and ends at the lease", () => {
    const { trouble } = troubleWith({});
    expect([0, 1, 2, 3, 4, 5, 1000].map((stepsBack) => trouble.delayMsAfter(stepsBack))).toEqual([
      1000, 2000, 4000, 8000, 10_000, 10_000, 10_000,
    ]);
  });

  test("the backoff has jitter of up to half", () => {
    const { trouble } = troubleWith({ random: () => 0 });
    expect(trouble.delayMsAfter(0)).toBe(500);
  });

  test("every batch fails from the first failure on until one is committed; a lost lease is no failure", async () => {
    const { trouble } = troubleWith({});
    trouble.laneTrouble("a", { kind: "deadline", error: new Error("too late") });
    expect(trouble.failingMs).toBe(0);
    trouble.laneTrouble("a", passing);
    await eventually(() => trouble.failingMs > 20);
    trouble.laneTrouble("b", passing);
    expect(trouble.failingMs).toBeGreaterThan(20);
    trouble.settled();
    expect(trouble.failingMs).toBe(0);
  });

  test("failures are forgotten when nobody has tried for some leases", async () => {
    const { trouble } = troubleWith({ leaseMs: 20 });
    trouble.laneTrouble("a", passing);
    await eventually(() => trouble.failingMs > 0);
    await eventually(() => trouble.failingMs === 0);
  });

  test("trouble of a lane alone does not pause fetching", async () => {
    const { trouble, logger } = troubleWith({});
    let pauses = 0;
    trouble.steer({ pause: () => Promise.resolve(void (pauses += 1)), resume: () => {} });
    trouble.laneTrouble("a", passing);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect({ pauses, away: trouble.postgresAway, errors: logger.errors }).toEqual({
      pauses: 0,
      away: false,
      errors: [],
    });
  });

  test("Postgres away as a whole pauses fetching until it answers again, with one line for each end of the outage", async () => {
    let up = false;
    const { trouble, logger } = troubleWith({
      postgres: () => (up ? Promise.resolve() : Promise.reject(new Error("refused"))),
    });
    const steps: string[] = [];
    trouble.steer({
      pause: () => Promise.resolve(void steps.push("pause")),
      resume: () => void steps.push("resume"),
    });
    for (let failure = 0; failure < 50; failure += 1) trouble.laneTrouble(`order-${failure}`, passing);
    await eventually(() => trouble.postgresAway);
    for (let failure = 0; failure < 50; failure += 1) trouble.laneTrouble(`order-${failure}`, passing);
    expect(steps).toEqual(["pause"]);
    up = true;
    await eventually(() => !trouble.postgresAway);
    expect(steps).toEqual(["pause", "resume"]);
    expect(logger.errors).toEqual(["Postgres is away; waiting for it"]);
    expect(logger.infos).toEqual(["Postgres is back"]);
  });

  test("a full Redis is no outage and is said once, however many jobs meet it", async () => {
    const { trouble, logger } = troubleWith({});
    for (let job = 0; job < 50; job += 1) trouble.laneUnanswered(new OutOfMemoryError({ lcid: "a" }));
    expect(logger.errors).toHaveLength(1);
    expect(trouble.redisAway).toBe(false);
  });

  test("an error nobody foresaw is said at once, and its repetitions once in a while", () => {
    const { trouble, logger } = troubleWith({});
    for (let lane = 0; lane < 50; lane += 1) {
      trouble.laneTrouble(`order-${lane}`, { kind: "unknown", error: new Error("what is this") });
    }
    trouble.laneTrouble("b", { kind: "unknown", error: new RangeError("and that") });
    expect(logger.errors).toHaveLength(2);
    trouble.stop();
  });

  test("trouble of consumption is said, unless Redis is away, which has its own line", async () => {
    const { trouble, logger } = troubleWith({});
    await trouble.consumptionTrouble(new Error("missing lock"));
    expect({ warnings: logger.warnings, errors: logger.errors }).toEqual({
      warnings: ["fetching or ending a job failed; it will come again"],
      errors: [],
    });
    const away = troubleWith({ redis: () => Promise.reject(new Error("refused")) });
    await away.trouble.consumptionTrouble(new Error("refused"));
    await away.trouble.consumptionTrouble(new Error("refused"));
    expect({ warnings: away.logger.warnings, errors: away.logger.errors }).toEqual({
      warnings: [],
      errors: ["Redis is away; waiting for it"],
    });
    away.trouble.stop();
  });
});
