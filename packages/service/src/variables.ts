import { z } from "zod";
import { milliseconds, oneOf, secret, text, url, whole, type Variable } from "./variable-kinds.ts";

/** The event families that a worker can serve. */
export const FAMILY_NAMES = ["payment", "inventory", "line-item", "cancel"] as const;
export type FamilyName = (typeof FAMILY_NAMES)[number];

const HOUR_MS = 3_600_000;
const TEN_YEARS_MS = 87_600 * HOUR_MS;

const HOST_RULE = {
  pattern: /^[0-9A-Za-z.:_-]{1,253}$/,
  allowed: "an address or a host name of this machine",
};

/** Every variable that has a default; the two addresses have none and are read apart. */
export const VARIABLES = {
  prefix: text("JUNBAN_PREFIX", "junban", {
    // Braces would move the hash tag, and with it a lane's Cluster slot.
    pattern: /^[0-9A-Za-z._:-]{1,64}$/,
    allowed: "1 to 64 characters of 0-9 A-Z a-z . _ : -",
  }),
  families: families("JUNBAN_FAMILIES"),
  concurrency: whole("JUNBAN_CONCURRENCY", 128, { min: 1, max: 10_000, unit: "slots a family" }),
  leaseMs: milliseconds("JUNBAN_LEASE_MS", 10_000, { min: 1_000, max: 300_000 }),
  laneCap: whole("JUNBAN_LANE_CAP", 10_000, { min: 1, max: 10_000_000, unit: "requests" }),
  laneBatch: whole("JUNBAN_LANE_BATCH", 256, { min: 1, max: 1_000, unit: "requests" }),
  laneTtlMs: milliseconds("JUNBAN_LANE_TTL_MS", 168 * HOUR_MS, { min: 60_000, max: TEN_YEARS_MS }),
  quantumMs: milliseconds("JUNBAN_QUANTUM_MS", 2_000, { min: 1, max: 600_000 }),
  waitMs: milliseconds("JUNBAN_WAIT_MS", 1_000, { min: 1, max: 600_000 }),
  pollMs: milliseconds("JUNBAN_POLL_MS", 250, { min: 1, max: 600_000 }),
  commitLanes: whole("JUNBAN_COMMIT_LANES", 32, { min: 1, max: 32, unit: "lanes" }),
  commitParallel: whole("JUNBAN_COMMIT_PARALLEL", 3, { min: 1, max: 100, unit: "transactions" }),
  pgPool: whole("JUNBAN_PG_POOL", 8, { min: 1, max: 1_000, unit: "connections" }),
  // Zero would mean "no limit" to Postgres, and no wait here is without one.
  statementTimeoutMs: milliseconds("JUNBAN_STATEMENT_TIMEOUT_MS", 5_000, { min: 1, max: 299_999 }),
  lockTimeoutMs: milliseconds("JUNBAN_LOCK_TIMEOUT_MS", 2_000, { min: 1, max: 299_999 }),
  idleTransactionTimeoutMs: milliseconds("JUNBAN_IDLE_TX_TIMEOUT_MS", 5_000, { min: 1, max: 299_999 }),
  holdPaymentMs: milliseconds("JUNBAN_HOLD_PAYMENT_MS", 72 * HOUR_MS, { min: 1, max: TEN_YEARS_MS }),
  holdMs: milliseconds("JUNBAN_HOLD_MS", 24 * HOUR_MS, { min: 1, max: TEN_YEARS_MS }),
  relay: oneOf("JUNBAN_RELAY", "on", ["on", "off"]),
  updatesCap: whole("JUNBAN_UPDATES_CAP", 10_000, { min: 1, max: 10_000_000, unit: "jobs" }),
  keepFailed: whole("JUNBAN_KEEP_FAILED", 10_000, { min: 0, max: 10_000_000, unit: "jobs" }),
  poison: oneOf("JUNBAN_POISON", "halt", ["halt", "skip"]),
  crashAlone: whole("JUNBAN_CRASH_ALONE", 3, { min: 1, max: 1_000, unit: "vanished holders" }),
  crashGiveUp: whole("JUNBAN_CRASH_GIVE_UP", 10, { min: 1, max: 1_000, unit: "vanished holders" }),
  forwardKeepMs: milliseconds("JUNBAN_FORWARD_KEEP_MS", 168 * HOUR_MS, { min: 1, max: TEN_YEARS_MS }),
  forwardReplicas: whole("JUNBAN_FORWARD_REPLICAS", 0, { min: 0, max: 100, unit: "replicas" }),
  shutdownGraceMs: milliseconds("JUNBAN_SHUTDOWN_GRACE_MS", 25_000, { min: 1, max: HOUR_MS }),
  httpHost: text("JUNBAN_HTTP_HOST", "127.0.0.1", HOST_RULE),
  httpPort: whole("JUNBAN_HTTP_PORT", 9_464, { min: 0, max: 65_535, unit: "a port; 0 takes a free one" }),
  // Not JUNBAN_GATEWAY_PORT: that is what Kubernetes sets beside a service called junban-gateway.
  gatewayHost: text("JUNBAN_GATEWAY_HTTP_HOST", "127.0.0.1", HOST_RULE),
  gatewayPort: whole("JUNBAN_GATEWAY_HTTP_PORT", 8_464, {
    min: 0,
    max: 65_535,
    unit: "a port; 0 takes a free one",
  }),
  gatewayTokens: secret("JUNBAN_GATEWAY_TOKENS", "a list of tokens as JSON (docs/gateway.md)"),
  gatewayTokensFile: text("JUNBAN_GATEWAY_TOKENS_FILE", "", {
    pattern: /^[^\0]{1,4096}$/,
    allowed: "the path of a file that holds a list of tokens as JSON (docs/gateway.md)",
  }),
  gatewayBodyBytes: whole("JUNBAN_GATEWAY_BODY_BYTES", 1_048_576, {
    min: 1_024,
    max: 16_777_216,
    unit: "bytes",
  }),
  gatewayBatch: whole("JUNBAN_GATEWAY_BATCH", 256, { min: 1, max: 10_000, unit: "events" }),
  gatewayEventsPerMinute: whole("JUNBAN_GATEWAY_EVENTS_PER_MINUTE", 60_000, {
    min: 1,
    max: 100_000_000,
    unit: "events a minute",
  }),
  gatewayRequestMs: milliseconds("JUNBAN_GATEWAY_REQUEST_MS", 10_000, { min: 100, max: 300_000 }),
  stripeSecrets: secret("JUNBAN_GATEWAY_STRIPE_SECRETS", "signing secrets (whsec_…), separated by commas"),
  stripeToleranceMs: milliseconds("JUNBAN_GATEWAY_STRIPE_TOLERANCE_MS", 300_000, {
    min: 1_000,
    max: HOUR_MS,
  }),
  consoleHost: text("JUNBAN_CONSOLE_HTTP_HOST", "127.0.0.1", HOST_RULE),
  consolePort: whole("JUNBAN_CONSOLE_HTTP_PORT", 7_464, {
    min: 0,
    max: 65_535,
    unit: "a port; 0 takes a free one",
  }),
  consoleOrigin: text("JUNBAN_CONSOLE_ORIGIN", "", {
    pattern: /^https?:\/\/[0-9A-Za-z.[\]:-]{1,253}$/,
    allowed: "what browsers call the console, such as https://console.example.com, without a path",
  }),
  consoleUsers: secret("JUNBAN_CONSOLE_USERS", "a list of users as JSON (docs/console.md)"),
  consoleUsersFile: text("JUNBAN_CONSOLE_USERS_FILE", "", {
    pattern: /^[^\0]{1,4096}$/,
    allowed: "the path of a file that holds a list of users as JSON (docs/console.md)",
  }),
  consoleProxySecret: secret("JUNBAN_CONSOLE_PROXY_SECRET", "32 to 512 visible characters, no spaces"),
  consoleProxyUserHeader: text("JUNBAN_CONSOLE_PROXY_USER_HEADER", "x-forwarded-user", {
    pattern: /^[0-9a-z-]{1,64}$/,
    allowed: "the name of a header in small letters",
  }),
  consoleProxyOperators: text("JUNBAN_CONSOLE_PROXY_OPERATORS", "", {
    pattern: /^[\w.@+/:-]{1,128}(?:,[\w.@+/:-]{1,128}){0,999}$/,
    allowed: "names as the proxy gives them, separated by commas",
  }),
  consoleIdleMs: milliseconds("JUNBAN_CONSOLE_IDLE_MS", 1_800_000, { min: 1_000, max: 24 * HOUR_MS }),
  consoleSessionMs: milliseconds("JUNBAN_CONSOLE_SESSION_MS", 43_200_000, {
    min: 1_000,
    max: 168 * HOUR_MS,
  }),
  consoleRefreshMs: milliseconds("JUNBAN_CONSOLE_REFRESH_MS", 2_000, { min: 100, max: 60_000 }),
  logLevel: oneOf("LOG_LEVEL", "info", ["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
} as const satisfies Record<string, Variable<unknown>>;

/** Names that begin like ours and are read elsewhere: by the tests, the demo and the bench. */
export const FOREIGN_NAMES = [
  "JUNBAN_TEST_DATABASE_URL",
  "JUNBAN_TEST_REDIS_URL",
  "JUNBAN_REDIS_SERVER",
  "JUNBAN_FUZZ_RUNS",
  "JUNBAN_FUZZ_SEED",
] as const;

export const DATABASE_URL = url("DATABASE_URL", ["postgres:", "postgresql:"], { pathname: /^/, note: "" });
export const REDIS_URL = url("REDIS_URL", ["redis:", "rediss:"], {
  pathname: /^\/?\d{0,5}$/,
  note: " and ends with its port, or with / and the number of a database",
});

function families(name: string): Variable<readonly FamilyName[]> {
  return {
    name,
    fallback: FAMILY_NAMES,
    allowed: `at least one of ${FAMILY_NAMES.join(", ")}, separated by commas`,
    schema: z
      .string()
      .transform((value) => [...new Set(value.split(",").map((family) => family.trim()))])
      .pipe(z.array(z.enum(FAMILY_NAMES)).min(1)),
  };
}
