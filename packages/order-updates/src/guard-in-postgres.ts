import type { Database, Gap, Transaction } from "./contract.ts";
import {
  GuardTableMissingError,
  GuardUnavailableError,
  OrderUpdatesError,
  TransactionEndedError,
} from "./errors.ts";
import { judge } from "./guard.ts";
import type { Guard, Notice, Passage } from "./guard.ts";
import { withSession } from "./session.ts";
import type { Session } from "./session.ts";

const ADD = "insert into order_updates_seen (name, lcid) values ($1, $2) on conflict do nothing";
const BEGIN = "begin isolation level read committed";
/** Its key never changes, so the weaker lock is strong enough. The last column bounds the pauses between later statements. */
const LOCK = `select version::text as version, pg_current_xact_id()::text as transaction,
  extract(epoch from clock_timestamp() - waiting_since)::double precision * 1000 as waited_ms,
  set_config('idle_in_transaction_session_timeout', $3, true) as idle_limit
  from order_updates_seen where name = $1 and lcid = $2 for no key update skip locked`;
const WAIT = "update order_updates_seen set waiting_since = clock_timestamp() where name = $1 and lcid = $2";
const ARRIVE = "update order_updates_seen set waiting_since = null where name = $1 and lcid = $2";
const ADVANCE = `update order_updates_seen set version = $3, waiting_since = null
  where name = $1 and lcid = $2 and pg_current_xact_id()::text = $4`;

interface SeenRow {
  readonly version: string;
  readonly transaction: string;
  readonly waited_ms: number | null;
}

interface Seen {
  readonly last: number;
  readonly transaction: string;
  readonly waitedMs: number | null;
}

type Act = (gap: Gap | null, context: { readonly transaction: Transaction }) => Promise<void>;

/**
 * The guard with exactly-once effect: the version advances in the transaction that the handler writes in. The row lock is
 * the mutual exclusion, so it lasts exactly as long as the effect is undecided, whatever becomes of the process.
 */
export class GuardInPostgres implements Guard<{ readonly transaction: Transaction }> {
  readonly #database: Database;
  readonly #name: string;
  readonly #gapWaitMs: number;
  readonly #limitMs: number;

  constructor(options: { database: Database; name: string; gapWaitMs: number; limitMs: number }) {
    this.#database = options.database;
    this.#name = options.name;
    this.#gapWaitMs = options.gapWaitMs;
    this.#limitMs = options.limitMs;
  }

  async pass(notice: Notice, act: Act): Promise<Passage> {
    try {
      return await withSession({ database: this.#database, limitMs: this.#limitMs }, async (session) => {
        // Before the transaction, so that nobody waits for a row that another handler's transaction has yet to commit.
        await session.query(ADD, [this.#name, notice.lcid]);
        return this.#decided(session, { notice, act });
      });
    } catch (error) {
      if (error instanceof OrderUpdatesError) throw error;
      throw isMissingTable(error)
        ? new GuardTableMissingError({ cause: error })
        : new GuardUnavailableError({ detail: messageOf(error) }, { cause: error });
    }
  }

  async close(): Promise<void> {}

  async #decided(session: Session, { notice, act }: { notice: Notice; act: Act }): Promise<Passage> {
    const key = [this.#name, notice.lcid];
    let seen = await this.#locked(session, key);
    if (seen !== null && seen.waitedMs !== null && notice.version === seen.last + 1) {
      // What was missing has come, and that is committed before the handler runs: should it fail or die, those that wait
      // begin to wait anew, instead of going ahead at once.
      await session.query(ARRIVE, key);
      await session.query("commit");
      seen = await this.#locked(session, key);
    }
    if (seen === null) {
      await session.query("rollback");
      return { kind: "busy" };
    }
    const verdict = judge({ ...seen, version: notice.version, gapWaitMs: this.#gapWaitMs });
    if (verdict.kind === "go") return this.#handled(session, { notice, act, seen, gap: verdict.gap });
    if (verdict.kind === "waiting" && seen.waitedMs === null) await session.query(WAIT, key);
    await session.query("commit");
    return verdict;
  }

  /** Opens a transaction that holds the order's row; null when somebody else's does. */
  async #locked(session: Session, key: readonly string[]): Promise<Seen | null> {
    await session.query(BEGIN);
    const { rows } = await session.query(LOCK, [...key, String(this.#limitMs)]);
    const row = rows[0] as SeenRow | undefined;
    if (row === undefined) return null;
    return { last: Number(row.version), transaction: row.transaction, waitedMs: row.waited_ms };
  }

  async #handled(
    session: Session,
    step: { readonly notice: Notice; readonly act: Act; readonly seen: Seen; readonly gap: Gap | null },
  ): Promise<Passage> {
    const { notice, act, seen, gap } = step;
    await session.lend(async (transaction) => act(gap, { transaction }));
    try {
      const values = [this.#name, notice.lcid, notice.version, seen.transaction];
      const advanced = await session.query(ADVANCE, values);
      if (advanced.rowCount !== 1) throw new TransactionEndedError();
      // A transaction that a swallowed failure has aborted never comes here: the statement before would have failed too.
      await session.query("commit");
    } catch (error) {
      throw isOfTheTransaction(error) ? new TransactionEndedError({ cause: error }) : error;
    }
    return { kind: "handled", gap };
  }
}

/** Whether Postgres refused what the transaction holds, and is not itself unwell (connections, resources, operators, its system). */
function isOfTheTransaction(error: unknown): boolean {
  return /^(?!08|53|57|58|XX)[0-9A-Z]{5}$/.test(sqlStateOf(error));
}

function isMissingTable(error: unknown): boolean {
  return sqlStateOf(error) === "42P01" && messageOf(error).includes("order_updates_seen");
}

function sqlStateOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
