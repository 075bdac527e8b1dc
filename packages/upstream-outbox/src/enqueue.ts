import { CompiledQuery } from "kysely";
import { NotInTransactionError } from "./errors.ts";
import { usableText } from "./usable-event.ts";

/** What is needed of a `pg` client in a transaction. */
export interface PgTransaction {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  /** `I` outside of a transaction, `T` inside. */
  getTransactionStatus?(): string | null;
}

/** What is needed of kysely's `Transaction`. */
export interface KyselyTransaction {
  readonly isTransaction: boolean;
  executeQuery(query: CompiledQuery): Promise<{ readonly rows: readonly unknown[] }>;
}

export interface Enqueued {
  /** Number of the event's row in `junban_upstream.events`: rising in commit order within its lcid, a bigint as text. */
  readonly row: string;
}

const ENQUEUE = "select junban_upstream.enqueue_event($1::jsonb)::text as row";

/**
 * Writes an event into the outbox as part of the caller's transaction: published after its commit, never after a rollback.
 * Writers of one lcid wait for one another until their transactions end, for as long as the caller's `lock_timeout` allows.
 * A transaction of several lcids takes them in a fixed order, or it may meet a deadlock, which Postgres ends.
 *
 * @throws {UnusableEventError} before anything is sent, so the transaction can go on without the event.
 * @throws {NotInTransactionError} for a pool, a kysely that is no transaction, or a client that has not begun one.
 */
export async function enqueueEvent(
  transaction: PgTransaction | KyselyTransaction,
  event: unknown,
): Promise<Enqueued> {
  const text = usableText(event);
  const { rows } = await send(transaction, text);
  const [answer] = rows as readonly [Enqueued];
  return { row: answer.row };
}

async function send(
  transaction: PgTransaction | KyselyTransaction,
  text: string,
): Promise<{ readonly rows: readonly unknown[] }> {
  if ("executeQuery" in transaction) {
    if (!transaction.isTransaction) throw new NotInTransactionError({ given: "a kysely without one" });
    return transaction.executeQuery(CompiledQuery.raw(ENQUEUE, [text]));
  }
  // A pool would run the statement on whichever connection is free, and commit it there and then.
  if ("totalCount" in transaction) throw new NotInTransactionError({ given: "a pool" });
  const status = transaction.getTransactionStatus?.();
  if (status === "I" || status === null) {
    throw new NotInTransactionError({ given: "a client that has not begun one" });
  }
  return transaction.query(ENQUEUE, [text]);
}
