import { sql } from "kysely";
import type { Pool } from "pg";
import { LeadLostError } from "./errors.ts";
import { command, createPool, endPool, Session, type SessionLimits } from "./session.ts";
import { bind, db, statement, type NoValues } from "./statement.ts";

/** Passing committed news on: who may, what is left, and what has been taken. */

/** One applied event, as downstream is to learn of it. */
export interface News {
  readonly id: number;
  readonly lcid: string;
  readonly version: number;
  readonly payload: unknown;
  /** How long ago it was committed, by the server's clock, milliseconds. */
  readonly ageMs: number;
}

/** Held by one process at a time. Every call throws once the connection is lost, and with it the lead. */
export interface OutboxLead {
  /**
   * Deletes what has been passed on, and reads at most `limit` of what is left, oldest first: each order's versions in their
   * order. It never reads "what came after": a transaction that took its numbers first may commit last.
   */
  next(options: { readonly passedOn: readonly number[]; readonly limit: number }): Promise<readonly News[]>;
  /** Takes news out of the way of the others, with the reason why it cannot be passed on. */
  park(options: { readonly id: number; readonly reason: string }): Promise<void>;
  /** Resolves when somebody has committed news since the last call, after `withinMs`, or when the signal aborts. Never rejects. */
  rung(options: { readonly withinMs: number; readonly signal: AbortSignal }): Promise<void>;
  /** Lets another process lead. Harmless when the lead is lost. */
  leave(): Promise<void>;
}

export interface OutboxOptions {
  readonly databaseUrl: string;
  /** Shown by the server beside the connection. */
  readonly worker: string;
  /** Per statement, milliseconds; default 5000. Below 10,000, after which the server takes the lead away. */
  readonly statementTimeoutMs?: number;
}

export interface Outbox {
  /** Null while another process leads. Throws when Postgres does not answer. */
  lead(): Promise<OutboxLead | null>;
  /** Ends the connection, and with it a lead. */
  close(): Promise<void>;
}

/** What is locked for as long as a process leads; a session's lock, so that the server gives it back whatever becomes of the process. */
const LEAD = "junban outbox";
const CHANNEL = "junban_outbox";

/**
 * The server ends a session that asks nothing for so long, and one whose machine does not answer: a process that froze, or
 * whose machine lost power, would otherwise lead for ever.
 */
const SESSION_SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["idle_session_timeout", "10000"],
  ["tcp_keepalives_idle", "5"],
  ["tcp_keepalives_interval", "2"],
  ["tcp_keepalives_count", "3"],
];

const LISTEN = command(`listen ${CHANNEL}`);
const UNLISTEN = command(`unlisten ${CHANNEL}`);
/** Tells whoever leads that there is something to pass on. Nothing is lost with it, so its commit waits for no disk. */
export const ringOutbox = statement<NoValues>()("outbox_ring", () =>
  db.selectNoFrom([
    sql<string>`set_config('synchronous_commit', 'off', true)`.as("hurried"),
    sql<string>`pg_notify(${sql.lit(CHANNEL)}, '')`.as("rung"),
  ]),
);

/** Settings that this server does not know are left out. */
const setSettings = statement<{ names: readonly string[]; values: readonly string[] }>()(
  "outbox_session",
  ({ names, values }) => ({
    compile: () =>
      sql<{ setting: string }>`select set_config(wanted.name, wanted.value, false) as setting
        from unnest(${names}::text[], ${values}::text[]) as wanted(name, value)
        where exists (select from pg_settings as known where known.name = wanted.name)`.compile(db),
  }),
);
const takeLead = statement<NoValues>()("outbox_take_lead", () =>
  db.selectNoFrom(sql<boolean>`pg_try_advisory_lock(hashtextextended(${sql.lit(LEAD)}, 0))`.as("taken")),
);
const giveLead = statement<NoValues>()("outbox_give_lead", () =>
  db.selectNoFrom(sql<boolean>`pg_advisory_unlock(hashtextextended(${sql.lit(LEAD)}, 0))`.as("given")),
);
const oldestNews = statement<{ limit: number }>()("outbox_oldest", ({ limit }) =>
  db
    .selectFrom("outbox")
    .select([
      "id",
      "lcid",
      "version",
      "payload",
      sql<number>`(extract(epoch from clock_timestamp() - created_at) * 1000)::double precision`.as("ageMs"),
    ])
    .where("published_at", "is", null)
    .orderBy("id")
    .limit(sql<number>`${limit}::int`),
);
const deletePassedOn = statement<{ ids: readonly number[] }>()("outbox_passed_on", ({ ids }) =>
  db.deleteFrom("outbox").where(sql<boolean>`id = any(${ids}::bigint[])`),
);
const parkOne = statement<{ id: number; reason: string }>()("outbox_park", ({ id, reason }) =>
  db
    .with("taken", (inner) =>
      inner
        .deleteFrom("outbox")
        .where("id", "=", id)
        .returning(["id", "lcid", "version", "payload", "created_at"]),
    )
    .insertInto("outbox_parked")
    .columns(["id", "lcid", "version", "payload", "created_at", "reason"])
    .expression((select) =>
      select
        .selectFrom("taken")
        .select([
          "id",
          "lcid",
          "version",
          "payload",
          "created_at",
          sql<string>`${reason}::text`.as("reason"),
        ]),
    ),
);

/** Connects when it is first asked for the lead, and keeps that one connection. */
export function openOutbox({ databaseUrl, worker, statementTimeoutMs = 5_000 }: OutboxOptions): Outbox {
  const limits: SessionLimits = {
    statementTimeoutMs,
    lockTimeoutMs: statementTimeoutMs,
    idleTransactionTimeoutMs: statementTimeoutMs,
    transactionTimeoutMs: 2 * statementTimeoutMs,
  };
  const pool = createPool({
    databaseUrl,
    size: 1,
    limits,
    applicationName: `junban relay ${worker}`,
    pinPlans: true,
  });
  return new PostgresOutbox(pool, limits);
}

class PostgresOutbox implements Outbox {
  readonly #pool: Pool;
  readonly #limits: SessionLimits;
  #session: Session | null = null;

  constructor(pool: Pool, limits: SessionLimits) {
    this.#pool = pool;
    this.#limits = limits;
  }

  async lead(): Promise<OutboxLead | null> {
    this.#session ??= await this.#connect();
    const session = this.#session;
    const drop = async (): Promise<void> => this.#drop(session);
    try {
      const [answer] = await session.trip([bind(takeLead, {})]);
      if (answer.rows[0]?.taken !== true) return null;
      await session.trip([LISTEN]);
      return new SessionLead(session, drop);
    } catch (error) {
      await drop();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#session !== null) await this.#drop(this.#session);
    await endPool(this.#pool, this.#limits);
  }

  async #connect(): Promise<Session> {
    const session = await Session.open(this.#pool, this.#limits);
    const names = SESSION_SETTINGS.map(([name]) => name);
    const values = SESSION_SETTINGS.map(([, value]) => value);
    try {
      await session.trip([bind(setSettings, { names, values })]);
      return session;
    } catch (error) {
      await session.close({ reuse: false });
      throw error;
    }
  }

  /** A session that held the lead is never used again: the lock and all else of it end with it. */
  async #drop(session: Session): Promise<void> {
    if (this.#session !== session) return;
    this.#session = null;
    await session.close({ reuse: false });
  }
}

class SessionLead implements OutboxLead {
  readonly #session: Session;
  readonly #drop: () => Promise<void>;
  readonly #stopHearing: () => void;
  #isOver = false;
  #hasRung = false;
  #wake: () => void = () => undefined;

  constructor(session: Session, drop: () => Promise<void>) {
    this.#session = session;
    this.#drop = drop;
    this.#stopHearing = session.onNotification(() => {
      this.#hasRung = true;
      this.#wake();
    });
  }

  async next({
    passedOn,
    limit,
  }: {
    readonly passedOn: readonly number[];
    readonly limit: number;
  }): Promise<readonly News[]> {
    return this.#leading(async (session) => {
      const [, oldest] = await session.trip([
        passedOn.length === 0 ? null : bind(deletePassedOn, { ids: passedOn }),
        bind(oldestNews, { limit }),
      ]);
      return oldest.rows;
    });
  }

  async park(parked: { readonly id: number; readonly reason: string }): Promise<void> {
    await this.#leading(async (session) => session.trip([bind(parkOne, parked)]));
  }

  async rung({
    withinMs,
    signal,
  }: {
    readonly withinMs: number;
    readonly signal: AbortSignal;
  }): Promise<void> {
    if (!this.#hasRung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener("abort", this.#wake, { once: true });
      });
      signal.removeEventListener("abort", this.#wake);
      this.#wake = () => undefined;
    }
    this.#hasRung = false;
  }

  async leave(): Promise<void> {
    if (this.#isOver) return;
    this.#end();
    try {
      await this.#session.trip([UNLISTEN, bind(giveLead, {})]);
    } catch {
      await this.#drop();
    }
  }

  async #leading<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#isOver) throw new LeadLostError();
    try {
      return await work(this.#session);
    } catch (error) {
      this.#end();
      await this.#drop();
      throw error;
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#stopHearing();
  }
}
