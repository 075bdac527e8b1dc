import { ConfigError, type ConfigProblem, readConfig } from "@junban/service";
import { expect, test } from "vitest";

const ADDRESSES = { DATABASE_URL: "postgres://localhost/orders", REDIS_URL: "redis://localhost" };

function problemsOf(
  env: NodeJS.ProcessEnv,
  need?: readonly ("database" | "redis")[],
): readonly ConfigProblem[] {
  try {
    readConfig(env, need);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("without anything but the addresses, every default of the interface is in force", () => {
  expect(readConfig({ ...ADDRESSES, PATH: "/bin", HOME: "/root" })).toEqual({
    databaseUrl: "postgres://localhost/orders",
    redisUrl: "redis://localhost",
    prefix: "junban",
    families: ["payment", "inventory", "line-item", "cancel"],
    concurrency: 128,
    leaseMs: 10_000,
    laneCap: 10_000,
    laneBatch: 256,
    laneTtlMs: 604_800_000,
    quantumMs: 2_000,
    waitMs: 1_000,
    pollMs: 250,
    commitLanes: 32,
    commitParallel: 3,
    pgPool: 8,
    statementTimeoutMs: 5_000,
    lockTimeoutMs: 2_000,
    idleTransactionTimeoutMs: 5_000,
    holdPaymentMs: 259_200_000,
    holdMs: 86_400_000,
    relay: "on",
    updatesCap: 10_000,
    keepFailed: 10_000,
    poison: "halt",
    crashAlone: 3,
    crashGiveUp: 10,
    forwardKeepMs: 604_800_000,
    forwardReplicas: 0,
    shutdownGraceMs: 25_000,
    httpHost: "127.0.0.1",
    httpPort: 9_464,
    gatewayHost: "127.0.0.1",
    gatewayPort: 8_464,
    gatewayTokens: "",
    gatewayTokensFile: "",
    gatewayBodyBytes: 1_048_576,
    gatewayBatch: 256,
    gatewayEventsPerMinute: 60_000,
    gatewayRequestMs: 10_000,
    stripeSecrets: "",
    stripeToleranceMs: 300_000,
    consoleHost: "127.0.0.1",
    consolePort: 7_464,
    consoleOrigin: "",
    consoleUsers: "",
    consoleUsersFile: "",
    consoleProxySecret: "",
    consoleProxyUserHeader: "x-forwarded-user",
    consoleProxyOperators: "",
    consoleIdleMs: 1_800_000,
    consoleSessionMs: 43_200_000,
    consoleRefreshMs: 2_000,
    logLevel: "info",
    traces: null,
  });
});

test("values are read as what they are", () => {
  const config = readConfig({
    ...ADDRESSES,
    JUNBAN_FAMILIES: "cancel, payment,cancel",
    JUNBAN_CONCURRENCY: "256",
    JUNBAN_POISON: "skip",
    JUNBAN_HTTP_PORT: "0",
    LOG_LEVEL: "debug",
  });
  expect(config).toMatchObject({
    families: ["cancel", "payment"],
    concurrency: 256,
    poison: "skip",
    httpPort: 0,
    logLevel: "debug",
  });
});

test.each([
  ["JUNBAN_LEASE_MS", "999"],
  ["JUNBAN_LEASE_MS", "300001"],
  ["JUNBAN_LEASE_MS", "1e4"],
  ["JUNBAN_LEASE_MS", "10s"],
  ["JUNBAN_LEASE_MS", " 10000"],
  ["JUNBAN_LEASE_MS", "-1"],
  ["JUNBAN_LEASE_MS", "10000.5"],
  ["JUNBAN_LEASE_MS", ""],
  ["JUNBAN_CONCURRENCY", "0"],
  ["JUNBAN_COMMIT_LANES", "33"],
  ["JUNBAN_HTTP_PORT", "65536"],
  ["JUNBAN_PREFIX", "jun{ban}"],
  ["JUNBAN_PREFIX", ""],
  ["JUNBAN_FAMILIES", ""],
  ["JUNBAN_FAMILIES", "payment,"],
  ["JUNBAN_FAMILIES", "payments"],
  ["JUNBAN_POISON", "HALT"],
  ["LOG_LEVEL", "verbose"],
  ["JUNBAN_STATEMENT_TIMEOUT_MS", "0"],
])("%s=%j is refused with the value and what is allowed", (variable, value) => {
  const problems = problemsOf({ ...ADDRESSES, [variable]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ variable, value });
  expect(problems[0]?.allowed).not.toBe("");
});

test("every problem is told at once, in one message", () => {
  const failure = (() => {
    try {
      readConfig({ JUNBAN_LEASE_MS: "soon", JUNBAN_PG_POOL: "0" });
      return undefined;
    } catch (error) {
      return error;
    }
  })();
  expect(failure).toBeInstanceOf(ConfigError);
  const { message, code } = failure as ConfigError;
  expect(code).toBe("CONFIG");
  for (const part of [
    "DATABASE_URL is not set",
    "REDIS_URL is not set",
    'JUNBAN_LEASE_MS is "soon"',
    "1000…300000",
    "JUNBAN_PG_POOL",
  ]) {
    expect(message).toContain(part);
  }
});

test("an address is needed only where it was asked for, and judged wherever it is set", () => {
  expect(problemsOf({}, []).map(({ variable }) => variable)).toEqual([]);
  expect(problemsOf({}, ["redis"]).map(({ variable }) => variable)).toEqual(["REDIS_URL"]);
  expect(
    problemsOf({ DATABASE_URL: "mysql://localhost/orders" }, []).map(({ variable }) => variable),
  ).toEqual(["DATABASE_URL"]);
});

test.each([
  "http://user:canary-1@db/orders",
  "user:canary-1@db/orders",
  "postgres://user:canary-1@db:port/orders",
])("the password of a bad address (%s) is never repeated", (url) => {
  const problems = problemsOf({ ...ADDRESSES, DATABASE_URL: url });
  expect(problems).toHaveLength(1);
  expect(JSON.stringify(problems)).not.toContain("canary");
});

test.each(["JUNBAN_STATEMENT_TIMEOUT_MS", "JUNBAN_LOCK_TIMEOUT_MS", "JUNBAN_IDLE_TX_TIMEOUT_MS"])(
  "%s has to stay below the lease",
  (variable) => {
    const env = {
      ...ADDRESSES,
      JUNBAN_LEASE_MS: "2000",
      JUNBAN_STATEMENT_TIMEOUT_MS: "1500",
      JUNBAN_LOCK_TIMEOUT_MS: "1500",
      JUNBAN_IDLE_TX_TIMEOUT_MS: "1500",
    };
    expect(problemsOf(env)).toEqual([]);
    const problems = problemsOf({ ...env, [variable]: "2000" });
    expect(problems.map((problem) => problem.variable)).toEqual([variable]);
    expect(problems[0]?.allowed).toContain("JUNBAN_LEASE_MS (2000)");
  },
);

test("all slots together are at least twice the batch", () => {
  expect(problemsOf({ ...ADDRESSES, JUNBAN_FAMILIES: "payment", JUNBAN_CONCURRENCY: "512" })).toEqual([]);
  const problems = problemsOf({ ...ADDRESSES, JUNBAN_FAMILIES: "payment", JUNBAN_CONCURRENCY: "511" });
  expect(problems.map(({ variable, value }) => [variable, value])).toEqual([["JUNBAN_CONCURRENCY", "511"]]);
  expect(problems[0]?.allowed).toContain("at least 512");
});

test("a head is not given up before it was ever served alone", () => {
  const problems = problemsOf({ ...ADDRESSES, JUNBAN_CRASH_ALONE: "5", JUNBAN_CRASH_GIVE_UP: "4" });
  expect(problems.map(({ variable }) => variable)).toEqual(["JUNBAN_CRASH_GIVE_UP"]);
});

test.each([
  ["JUNBAN_LEASE", "JUNBAN_LEASE_MS"],
  ["JUNBAN_CONCURENCY", "JUNBAN_CONCURRENCY"],
  ["JUNBAN_LOG_LEVEL", "LOG_LEVEL"],
  ["JUNBAN_REDIS_URL", "REDIS_URL"],
])("a misspelt %s is a problem that names %s", (variable, meant) => {
  const problems = problemsOf({ ...ADDRESSES, [variable]: "1" });
  expect(problems.map((problem) => problem.variable)).toEqual([variable]);
  expect(problems[0]?.allowed).toContain(meant);
});

test("a secret is not shown, not even to whoever got it wrong", () => {
  const secret = `canary${"x".repeat(70_000)}`;
  const problems = problemsOf({ ...ADDRESSES, JUNBAN_GATEWAY_TOKENS: secret });
  expect(problems).toMatchObject([{ variable: "JUNBAN_GATEWAY_TOKENS", value: "(hidden)" }]);
});

test("an unknown variable is a problem, its value is not repeated, and no far-fetched name is suggested", () => {
  const problems = problemsOf({ ...ADDRESSES, JUNBAN_FLUX_CAPACITOR_PASSWORD: "canary-2" });
  expect(problems).toEqual([
    {
      variable: "JUNBAN_FLUX_CAPACITOR_PASSWORD",
      value: "(unknown variable)",
      allowed: "nothing; there is no such variable",
    },
  ]);
});

test("names of the tests and of Kubernetes' service links are no mistakes, a misspelt port still is", () => {
  const links = {
    JUNBAN_WORKER_SERVICE_HOST: "10.0.0.1",
    JUNBAN_WORKER_SERVICE_PORT: "9464",
    JUNBAN_WORKER_SERVICE_PORT_HTTP: "9464",
    JUNBAN_WORKER_PORT: "tcp://10.0.0.1:9464",
    JUNBAN_WORKER_PORT_9464_TCP_ADDR: "10.0.0.1",
    JUNBAN_GATEWAY_SERVICE_HOST: "10.0.0.2",
    JUNBAN_GATEWAY_PORT: "tcp://10.0.0.2:8464",
  };
  expect(
    problemsOf({ ...ADDRESSES, ...links, JUNBAN_TEST_REDIS_URL: "redis://x", JUNBAN_REDIS_SERVER: "/x" }),
  ).toEqual([]);
  expect(problemsOf({ ...ADDRESSES, JUNBAN_HTP_PORT: "1" }).map(({ variable }) => variable)).toEqual([
    "JUNBAN_HTP_PORT",
  ]);
  expect(
    readConfig({ ...ADDRESSES, JUNBAN_MINE: "1" }, ["redis"], { alsoKnown: ["JUNBAN_MINE"] }).prefix,
  ).toBe("junban");
});
