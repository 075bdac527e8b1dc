import { decide } from "@junban/orders";
import type { Pool } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConnectionLostError, NotCommittedError } from "../../packages/order-store/src/errors.ts";
import { LockedOrder, type MaintenanceContext } from "../../packages/order-store/src/locked-order.ts";
import { prepare } from "../../packages/order-store/src/prepared.ts";
import { insertShells } from "../../packages/order-store/src/reading.ts";
import type { StoredOrder } from "../../packages/order-store/src/rows.ts";
import { COMMIT, createPool, endPool, Session } from "../../packages/order-store/src/session.ts";
import type { BoundStatement, ParameterValue } from "../../packages/order-store/src/statement.ts";
import { applyTogether } from "../../packages/order-store/src/transaction.ts";
import { freshDatabase } from "../support/index.ts";
import { batchOf, Story } from "./story.ts";

const LIMITS = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 10_000,
  idleTransactionTimeoutMs: 10_000,
  transactionTimeoutMs: 20_000,
};
const BACKEND: BoundStatement<{ pid: number }> = {
  name: "backend",
  text: "select pg_backend_pid() as pid",
  values: [],
};

async function poolOfOne(url?: string): Promise<Pool> {
  const databaseUrl = url ?? (await freshDatabase());
  const pool = createPool({
    databaseUrl,
    size: 1,
    limits: LIMITS,
    applicationName: "session test",
    pinPlans: false,
  });
  onTestFinished(async () => endPool(pool, LIMITS));
  return pool;
}

/** Runs one trip on a session of its own and says which backend served it; `meanwhile` happens before the session closes. */
async function backendOf(pool: Pool, meanwhile?: (session: Session) => Promise<void>): Promise<number> {
  const session = await Session.open(pool, LIMITS);
  try {
    const [answer] = await session.trip([BACKEND]);
    await meanwhile?.(session);
    return answer.rows[0]!.pid;
  } finally {
    await session.close();
  }
}

test("whoever queues for a connection that is refused learns that it was refused, not that it queued", async () => {
  const pool = await poolOfOne("postgres://junban@127.0.0.1:1/nowhere");
  const opening = Array.from({ length: 3 }, async () => Session.open(pool, LIMITS));
  for (const opened of await Promise.allSettled(opening)) {
    expect(opened).toMatchObject({ status: "rejected", reason: { code: "CONNECTION_LOST" } });
  }
});

test("a session that ended well gives its connection to the next", async () => {
  const pool = await poolOfOne();
  expect(await backendOf(pool)).toBe(await backendOf(pool));
});

test("a connection on which an error was not the server's is never used again", async () => {
  const pool = await poolOfOne();
  const unbindable = {
    toPostgres: () => {
      throw new Error("this value cannot be bound");
    },
  } as unknown as ParameterValue;
  const first = await backendOf(pool, async (session) => {
    const trip = session.trip([{ name: "unbindable", text: "select $1::text", values: [unbindable] }]);
    await expect(trip).rejects.toBeInstanceOf(ConnectionLostError);
  });
  expect(await backendOf(pool)).not.toBe(first);
});

describe("a COMMIT answered with ROLLBACK is a failure", () => {
  /** Stands for a session whose transaction the server has aborted unnoticed; every order is new to it. */
  function rollingBack(): { session: Session; sent: unknown[] } {
    const sent: unknown[] = [];
    const answerTo = (statement: BoundStatement<unknown> | null): unknown => {
      if (statement === null) return null;
      sent.push(statement);
      if (statement === COMMIT) return { command: "ROLLBACK", rows: [] };
      return { command: "", rows: statement.name === insertShells.name ? [{ lcid: "O1" }] : [] };
    };
    const trip = (statements: readonly (BoundStatement<unknown> | null)[]): Promise<unknown> =>
      Promise.resolve(statements.map(answerTo));
    return { session: { trip } as unknown as Session, sent };
  }

  test("for the events of a lane", async () => {
    const { session, sent } = rollingBack();
    const part = {
      lcid: "O1",
      events: batchOf("O1", [new Story("O1").placed()]).requests.map((request) => prepare(request, "O1")),
      deadlineMs: Infinity,
    };
    const policy = { holdPaymentMs: 1, holdMs: 1, poison: "halt", decide } as const;
    const applying = applyTogether(session, [part], { policy, worker: "tester" });
    await expect(applying).rejects.toBeInstanceOf(NotCommittedError);
    expect(sent.at(-1)).toBe(COMMIT);
  });

  test("for upkeep on a locked order", async () => {
    const { session, sent } = rollingBack();
    const order = new LockedOrder({} as StoredOrder, session, {} as MaintenanceContext);
    await expect(order.commitWith([])).rejects.toBeInstanceOf(NotCommittedError);
    expect(sent).toEqual([COMMIT]);
  });
});
