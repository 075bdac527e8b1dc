import { expect, onTestFinished, test } from "vitest";
import { createPool, endPool } from "../../packages/order-store/src/session.ts";
import { freshDatabase } from "../support/index.ts";

const LIMITS = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 10_000,
  idleTransactionTimeoutMs: 10_000,
  transactionTimeoutMs: 20_000,
};

/**
 * The driver tells of a connection that dropped by the event `error`. Unheard, that event is thrown where nobody can catch
 * it, and ends the process; raised by hand, it is thrown here.
 */
test("a connection that drops ends no process, whether it is idle or in use", async () => {
  const pool = createPool({
    databaseUrl: await freshDatabase(),
    size: 1,
    limits: LIMITS,
    applicationName: "connection errors",
    pinPlans: false,
  });
  onTestFinished(async () => endPool(pool, LIMITS));
  const dropped = new Error("the connection dropped");
  const client = await pool.connect();
  expect(() => client.emit("error", dropped), "in use").not.toThrow();
  client.release();
  expect(() => client.emit("error", dropped), "idle").not.toThrow();
});
