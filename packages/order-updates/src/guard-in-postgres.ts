import type { Database, DatabaseClient, Gap, Transaction } from "./contract.ts";
import { GuardTableMissingError, TransactionEndedError } from "./errors.ts";
import { judge } from "./guard.ts";
import type { Guard, Notice, Passage } from "./guard.ts";

const ADD = "insert into order_updates_seen (name, lcid) values ($1, $2) on conflict do nothing";
const LIMIT = "select set_config('idle_in_transaction_session_timeout', $1, true)";
const LOCK = `select version::text as version, pg_current_xact_id()::text as transaction,
  extract(epoch from clock_timestamp() - waiting_since)::double precision * 1000 as waited_ms
  from order_updates_seen where name = $1 and lcid = $2 for update skip locked`;
const WAIT = `update order_updates_seen set waiting_since = clock_timestamp()
  where name = $1 and lcid = $2 and waiting_since is null`;
const ADVANCE = `update order_updates_seen set version = $3, waiting_since = null
  where name = $1 and lcid = $2 and pg_current_xact_id()::text = $4`;

interface SeenRow {
  readonly version: string;
  readonly transaction: string;
  readonly waited_ms: number | null;
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
  readonly #idleMs: number;

  constructor(options: { database: Database; name: string; gapWaitMs: number; idleMs: number }) {
    this.#database = options.database;
    this.#name = options.name;
    this.#gapWaitMs = options.gapWaitMs;
    this.#idleMs = options.idleMs;
  }

  async pass(notice: Notice, act: Act): Promise<Passage> {
    const client = await this.#database.connect();
    // A session that the server ends would otherwise end the process; the query under way tells of it.
    const ignore = (): void => undefined;
    client.on("error", ignore);
    let broken = false;
    try {
      // Before the transaction, so that nobody waits for a row that another handler's transaction has yet to commit.
      await client.query(ADD, [this.#name, notice.lcid]);
      await client.query("begin isolation level read committed");
      return await this.#decided(client, { notice, act });
    } catch (error) {
      await client.query("rollback").catch(() => {
        broken = true;
      });
      throw isUndefinedTable(error) ? new GuardTableMissingError({ cause: error }) : error;
    } finally {
      client.off("error", ignore);
      client.release(broken);
    }
  }

  async close(): Promise<void> {}

  async #decided(client: DatabaseClient, { notice, act }: { notice: Notice; act: Act }): Promise<Passage> {
    const key = [this.#name, notice.lcid];
    await client.query(LIMIT, [String(this.#idleMs)]);
    const row = (await client.query(LOCK, key)).rows[0] as SeenRow | undefined;
    if (row === undefined) {
      await client.query("rollback");
      return { kind: "busy" };
    }
    const { transaction, waited_ms: waitedMs } = row;
    const last = Number(row.version);
    const verdict = judge({ version: notice.version, last, waitedMs, gapWaitMs: this.#gapWaitMs });
    if (verdict.kind !== "go") {
      if (verdict.kind === "waiting") await client.query(WAIT, key);
      await client.query("commit");
      return verdict;
    }
    await act(verdict.gap, { transaction: client });
    const advanced = await client.query(ADVANCE, [...key, notice.version, transaction]);
    if (advanced.rowCount !== 1) throw new TransactionEndedError();
    // A transaction that a swallowed failure has aborted never comes here: the statement before would have failed too.
    await client.query("commit");
    return { kind: "handled", gap: verdict.gap };
  }
}

function isUndefinedTable(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "42P01" &&
    error.message.includes("order_updates_seen")
  );
}
