import { decide } from "@junban/orders";
import type { Pool } from "pg";
import { describe, expect, test } from "vitest";
import { NotCommittedError, PurgedMeanwhileError } from "../../packages/order-store/src/errors.ts";
import type { MaintenanceContext } from "../../packages/order-store/src/locked-order.ts";
import { prepare } from "../../packages/order-store/src/prepared.ts";
import { purgeOne } from "../../packages/order-store/src/purging.ts";
import { insertShells, knownOrders, lockOrders } from "../../packages/order-store/src/reading.ts";
import type { Session, SessionLimits } from "../../packages/order-store/src/session.ts";
import type { BoundStatement } from "../../packages/order-store/src/statement.ts";
import { applyTogether } from "../../packages/order-store/src/transaction.ts";
import { batchOf, Story } from "./story.ts";

/** What no real server does when it is wanted: each of these is a matter of microseconds, or of a defect. */

test("a purge whose COMMIT is answered with ROLLBACK is a failure", async () => {
  const query = (sent: string | { name: string }): Promise<unknown> => {
    if (sent === "commit") return Promise.resolve({ command: "ROLLBACK", rows: [] });
    const isLock = typeof sent !== "string" && sent.name === "junban_lock_for_deletion";
    return Promise.resolve({ command: "", rows: isLock ? [{ lcid: "O1" }] : [] });
  };
  const stream = { cork: () => {}, uncork: () => {}, destroy: () => {} };
  const client = { query, connection: { stream }, getTransactionStatus: () => "I", release: () => {} };
  const pool = { idleCount: 1, totalCount: 1, options: { max: 1 }, connect: () => Promise.resolve(client) };
  const context = { pool: pool as unknown as Pool, limits: {} as SessionLimits } as MaintenanceContext;
  await expect(purgeOne(context, "O1")).rejects.toBeInstanceOf(NotCommittedError);
});

describe("an apply that finds the tombstone of an order whose row it has starts again", () => {
  type Rows = Readonly<Record<string, readonly (readonly object[])[]>>;

  /** Answers each statement with the next of its answers, by name. */
  function answering(answers: Rows): Session {
    const asked = new Map<string, number>();
    const rowsFor = (name: string): readonly object[] => {
      const times = asked.get(name) ?? 0;
      asked.set(name, times + 1);
      return answers[name]?.[times] ?? [];
    };
    const trip = (statements: readonly (BoundStatement<unknown> | null)[]): Promise<unknown> =>
      Promise.resolve(
        statements.map((statement) =>
          statement === null ? null : { command: "", rows: rowsFor(statement.name) },
        ),
      );
    return { trip } as unknown as Session;
  }

  const tombstone = { lcid: "O1", purged: true };
  const row = { lcid: "O1" };

  test.each<[string, Rows]>([
    ["locked", { [lockOrders.name]: [[row]], [knownOrders.name]: [[tombstone]] }],
    ["just made", { [insertShells.name]: [[row]], [knownOrders.name]: [[], [tombstone]] }],
  ])("%s", async (_how, answers) => {
    const { requests } = batchOf("O1", [new Story("O1").sold("c1")]);
    const part = { lcid: "O1", events: requests.map((one) => prepare(one, "O1")), deadlineMs: Infinity };
    const policy = { holdPaymentMs: 1, holdMs: 1, poison: "halt", decide } as const;
    const applying = applyTogether(answering(answers), [part], { policy, worker: "tester" });
    await expect(applying).rejects.toBeInstanceOf(PurgedMeanwhileError);
  });
});
