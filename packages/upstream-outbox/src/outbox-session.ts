import pg from "pg";
import { OutboxConnectionError, OutboxMissingError } from "./errors.ts";
import type { ParkedRow, WaitingRow } from "./verdicts.ts";

export interface SessionOptions {
  readonly databaseUrl: string;
  /** Silence after which Postgres ends the session, and with it the lead, milliseconds. */
  readonly leaseMs: number;
  /** Hears that something was committed, or that the connection is gone. */
  readonly onNews: () => void;
}

export interface Backlog {
  /** Rows that wait to be forwarded, counted up to 100,000. */
  readonly waiting: number;
  readonly parked: number;
  /** Age of the first waiting row; 0 when none waits. */
  readonly oldestSeconds: number;
}

/** Counting more would cost more than the figure is worth. */
const COUNT_LIMIT = 100_000;
const PRUNE_ROWS = 1_000;
const STATEMENT_LIMIT_MS = 5_000;
const GOODBYE_MS = 1_000;

/** Two numbers, and the locks of orders are one each: no order can be called this. Each database has its own. */
const LEADER = "hashtext('junban_upstream'), hashtext('forwarder')";

const WAITING = `
  select id::text, lcid, event::text as body, extract(epoch from clock_timestamp() - enqueued_at)::float8 as "ageSeconds"
  from junban_upstream.events as waiting
  where forwarded_at is null and parked_at is null and not (lcid = any($2::text[]))
  order by waiting.id limit $1`;

const SETTLE = `
  update junban_upstream.events as settled
  set forwarded_at = case when verdict.code is null then clock_timestamp() end,
      parked_at = case when verdict.code is not null then clock_timestamp() end,
      parked_code = verdict.code,
      parked_reason = verdict.reason
  from unnest($1::bigint[], $2::text[], $3::text[]) as verdict (id, code, reason)
  where settled.id = verdict.id and forwarded_at is null and parked_at is null`;

const PRUNE = `
  delete from junban_upstream.events where id in (
    select id from junban_upstream.events
    where forwarded_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000) order by forwarded_at limit ${PRUNE_ROWS}
  )`;

const BACKLOG = `
  select
    (select count(*) from (
      select from junban_upstream.events where forwarded_at is null and parked_at is null limit ${COUNT_LIMIT}
    ) as counted)::int as waiting,
    (select count(*) from (
      select from junban_upstream.events where parked_at is not null limit ${COUNT_LIMIT}
    ) as counted)::int as parked,
    coalesce((
      select extract(epoch from clock_timestamp() - enqueued_at) from junban_upstream.events as waiting
      where forwarded_at is null and parked_at is null order by waiting.id limit 1
    ), 0)::float8 as "oldestSeconds"`;

/**
 * The forwarder's one connection. It holds the lead, listens, reads and marks: whoever lost the lead has lost the connection, and
 * can neither read nor mark. Every failure but a refusal of the server's is an OutboxConnectionError.
 */
export class OutboxSession {
  readonly #client: pg.Client;
  readonly #heartbeat: NodeJS.Timeout;
  /** Settles when what was asked last has been answered. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(client: pg.Client, leaseMs: number) {
    this.#client = client;
    // A frozen process sends none, so Postgres ends its session, and another forwarder takes the lead.
    this.#heartbeat = setInterval(() => void this.#beat(), leaseMs / 3);
  }

  /** @throws {OutboxMissingError} */
  static async open({ databaseUrl, leaseMs, onNews }: SessionOptions): Promise<OutboxSession> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: "junban-forwarder",
      connectionTimeoutMillis: 3_000,
      keepAlive: true,
      // The server's own limit comes first where there is still a server.
      query_timeout: STATEMENT_LIMIT_MS + 1_000,
    });
    client.on("error", onNews);
    client.on("end", onNews);
    client.on("notification", onNews);
    const session = new OutboxSession(client, leaseMs);
    try {
      await client.connect();
      await session.#prepare(leaseMs);
    } catch (error) {
      await session.close();
      throw explained(error);
    }
    return session;
  }

  async #prepare(leaseMs: number): Promise<void> {
    const found = await this.#ask<{ outbox: string | null }>(
      // Set here and not when connecting: a pooler refuses connections that begin with settings it does not know.
      "select set_config('idle_session_timeout', $1, false), set_config('statement_timeout', $2, false), " +
        // A session in the middle of answering is not idle; whoever takes no answer for so long has fallen silent all the same.
        "set_config('tcp_user_timeout', $1, false), " +
        // By index, whatever the last statistics say: nearly all rows of a big outbox are history.
        "set_config('enable_seqscan', 'off', false), to_regclass('junban_upstream.events')::text as outbox",
      [String(leaseMs), String(STATEMENT_LIMIT_MS)],
    );
    if ((found.rows[0]?.outbox ?? null) === null) throw new OutboxMissingError();
    await this.#ask("listen junban_upstream", []);
  }

  /** Whether this session leads from now on, until it ends. To be asked again when it does not. */
  async lead(): Promise<boolean> {
    const { rows } = await this.#ask<{ leads: boolean }>(
      `select pg_try_advisory_lock(${LEADER}) as leads`,
      [],
    );
    return rows[0]?.leads === true;
  }

  /** The first waiting rows, passing over the given lcids. Found by not being marked: a number says nothing about the commit. */
  async waiting(options: {
    readonly limit: number;
    readonly without: readonly string[];
  }): Promise<WaitingRow[]> {
    const { rows } = await this.#ask<Omit<WaitingRow, "event"> & { readonly body: string }>(WAITING, [
      options.limit,
      options.without,
    ]);
    // Read here: the process around may have told pg to read JSON in a way of its own.
    return rows.map(({ body, ...row }) => ({ ...row, event: JSON.parse(body) as unknown }));
  }

  async settle(settled: {
    readonly forwarded: readonly WaitingRow[];
    readonly parked: readonly ParkedRow[];
  }): Promise<void> {
    const { forwarded, parked } = settled;
    if (forwarded.length + parked.length === 0) return;
    const nothing = forwarded.map(() => null);
    await this.#ask(SETTLE, [
      [...forwarded, ...parked].map(({ id }) => id),
      [...nothing, ...parked.map(({ code }) => code)],
      [...nothing, ...parked.map(({ reason }) => reason)],
    ]);
  }

  /** Deletes some of the rows that were forwarded longer ago than that; true when there may be more. */
  async prune({ keepMs }: { readonly keepMs: number }): Promise<boolean> {
    return (await this.#ask(PRUNE, [keepMs])).rowCount === PRUNE_ROWS;
  }

  async backlog(): Promise<Backlog> {
    const [backlog] = (await this.#ask<Backlog>(BACKLOG, [])).rows;
    return backlog ?? { waiting: 0, parked: 0, oldestSeconds: 0 };
  }

  /** Ends the connection, and with it the lead; waits no longer than a second for a server that does not answer. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, GOODBYE_MS);
    });
    await Promise.race([this.#client.end().catch(() => undefined), late]);
    clearTimeout(timer);
    this.#cut();
  }

  async #beat(): Promise<void> {
    await this.#ask("select 1", []).catch(() => undefined);
  }

  /** One statement at a time; heartbeat, work and scrapes wait for one another here. */
  async #ask<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<pg.QueryResult<Row>> {
    const answer = this.#last.then(async () => this.#send<Row>(text, values));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #send<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<pg.QueryResult<Row>> {
    try {
      return await this.#client.query<Row>(text, values);
    } catch (error) {
      // Whatever else was on its way on a connection in an unknown state must not be answered to somebody else.
      if (!(error instanceof pg.DatabaseError)) this.#cut();
      throw explained(error);
    }
  }

  #cut(): void {
    (this.#client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }
}

function explained(error: unknown): unknown {
  const known = error instanceof pg.DatabaseError || error instanceof OutboxMissingError;
  return known || error instanceof OutboxConnectionError
    ? error
    : new OutboxConnectionError({ cause: error });
}
