import type { Pool } from "pg";
import { committed, NotCommittedError } from "./errors.ts";
import { OrderWork, type Policy, type WaitingEvent } from "./order-work.ts";
import { heldOf, linesOf, lockOrders, refsNamed } from "./reading.ts";
import { namesOf, columnsOf } from "./references.ts";
import { stateOf, type StoredOrder } from "./rows.ts";
import { BEGIN, COMMIT, Session, type SessionLimits } from "./session.ts";
import { bind, type BoundStatement } from "./statement.ts";
import { heldEvents, NOTHING_HELD } from "./waiting.ts";
import { writeOf } from "./writing.ts";

export interface MaintenanceContext {
  readonly pool: Pool;
  readonly limits: SessionLimits;
  readonly policy: Policy;
  readonly worker: string;
}

/** One order, locked as `apply` locks it, for work that does not come from its line. */
export class LockedOrder {
  readonly row: StoredOrder;
  readonly #session: Session;
  readonly #context: MaintenanceContext;

  constructor(row: StoredOrder, session: Session, context: MaintenanceContext) {
    this.row = row;
    this.#session = session;
    this.#context = context;
  }

  async read<Row>(statement: BoundStatement<Row>): Promise<readonly Row[]> {
    const [answer] = await this.#session.trip([statement]);
    return answer.rows;
  }

  /** Loads what deciding these events, and the held ones in their wake, may look at. */
  async workFor(events: readonly WaitingEvent[]): Promise<OrderWork> {
    const { lcid } = this.row;
    const [lines, heldRows] = await this.#session.trip([
      bind(linesOf, { lcids: [lcid] }),
      bind(heldOf, { lcids: [lcid] }),
    ]);
    const held = heldEvents(heldRows.rows).get(lcid) ?? NOTHING_HELD;
    const names = [...events, ...held.known].flatMap(({ event }) => namesOf(lcid, event));
    const refs = await this.read(bind(refsNamed, columnsOf(names)));
    return new OrderWork({
      lcid,
      state: stateOf(this.row, lines.rows, refs),
      bookkeeping: this.row,
      held,
      policy: this.#context.policy,
    });
  }

  async commit(work: OrderWork): Promise<void> {
    await this.commitWith([writeOf(work.writes(), { worker: this.#context.worker })]);
  }

  async commitWith(statements: readonly BoundStatement<unknown>[]): Promise<void> {
    const answers = await committed(this.#session.trip([...statements, COMMIT]));
    const command = answers.at(-1)?.command;
    if (command !== "COMMIT") {
      throw new NotCommittedError(`the server answered COMMIT with ${command ?? "nothing"}`);
    }
  }
}

/** Runs `work` with the order's row locked; null when there is no such order. What `work` does not commit is rolled back. */
export async function onLockedOrder<Result>(
  context: MaintenanceContext,
  lcid: string,
  work: (order: LockedOrder) => Promise<Result>,
): Promise<Result | null> {
  const session = await Session.open(context.pool, context.limits);
  try {
    const [, locked] = await session.trip([BEGIN, bind(lockOrders, { lcids: [lcid] })]);
    const row = locked.rows[0];
    return row === undefined ? null : await work(new LockedOrder(row, session, context));
  } finally {
    await session.close();
  }
}

/** One statement outside any transaction. */
export async function ask<Row>(
  { pool, limits }: Pick<MaintenanceContext, "pool" | "limits">,
  statement: BoundStatement<Row>,
): Promise<readonly Row[]> {
  const session = await Session.open(pool, limits);
  try {
    const [answer] = await session.trip([statement]);
    return answer.rows;
  } finally {
    await session.close();
  }
}

/** One statement that changes something, outside any transaction. @throws {CommitUnknownError} where no answer came. */
export async function change<Row>(
  { pool, limits }: Pick<MaintenanceContext, "pool" | "limits">,
  statement: BoundStatement<Row>,
): Promise<readonly Row[]> {
  const session = await Session.open(pool, limits);
  try {
    const [answer] = await committed(session.trip([statement]));
    return answer.rows;
  } finally {
    await session.close();
  }
}
