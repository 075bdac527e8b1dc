import pg, { type Pool, type PoolClient, type QueryResult } from "pg";
import { ConnectionLostError, PoolBusyError, TripTimeoutError } from "./errors.ts";
import type { BoundStatement } from "./statement.ts";

export interface SessionLimits {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly idleTransactionTimeoutMs: number;
  readonly transactionTimeoutMs: number;
}

/**
 * How long a connection attempt may take; shorter than any lease in ordinary use, so a dead server is noticed in time.
 */
const CONNECT_TIMEOUT_MS = 3_000;
/** What a trip may take beyond the server's own limit before the connection counts as dead. */
const ANSWER_SLACK_MS = 1_000;

/**
 * Plans are pinned because each statement has exactly one good plan, an index probe per row it names: on a fresh database
 * without statistics the planner's own choice lost most of the throughput.
 */
const PINNED_PLANS = [
  "plan_cache_mode=force_generic_plan",
  "enable_seqscan=off",
  "enable_hashjoin=off",
  "enable_mergejoin=off",
  "jit=off",
];

function parsers(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  // bigint columns hold amounts and counters, all within the safe integers by the domain's own bounds.
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}

export interface PoolOptions {
  readonly databaseUrl: string;
  readonly size: number;
  readonly limits: SessionLimits;
  readonly applicationName: string;
  /** Pins plans for the transaction's own statements; reports are planned as usual. */
  readonly pinPlans: boolean;
}

export function createPool({ databaseUrl, size, limits, applicationName, pinPlans }: PoolOptions): Pool {
  const config: pg.PoolConfig = {
    connectionString: databaseUrl,
    max: size,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    pipeline: true,
    types: parsers(),
    statement_timeout: limits.statementTimeoutMs,
    lock_timeout: limits.lockTimeoutMs,
    idle_in_transaction_session_timeout: limits.idleTransactionTimeoutMs,
    ...(pinPlans ? { options: PINNED_PLANS.map((setting) => `-c ${setting}`).join(" ") } : {}),
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits this hook; only its types do not say so
    onConnect: async (client: pg.ClientBase) => {
      // Only Postgres 17 and later know this limit, which also ends a transaction whose client froze in mid-message. It must
      // exceed the statement's own limit, which the server would ignore otherwise.
      const tooLate = setTimeout(() => streamOf(client as PoolClient).destroy(), CONNECT_TIMEOUT_MS);
      try {
        await client.query(
          "select set_config('transaction_timeout', $1, false) from pg_settings where name = 'transaction_timeout'",
          [String(limits.transactionTimeoutMs)],
        );
      } finally {
        clearTimeout(tooLate);
      }
    },
  };
  const pool = new pg.Pool(config);
  // A server that ends an idle or a checked-out session makes the client emit `error`; the query under way is told by its
  // own rejection and the pool forgets the client, so there is nothing else to do. Without listeners the process would die.
  const ignore = (): void => undefined;
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
}

/** Ends a pool's connections, and waits no longer than a statement may take. */
export async function endPool(pool: Pool, { statementTimeoutMs }: SessionLimits): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, statementTimeoutMs);
  });
  await Promise.race([pool.end().catch(() => undefined), bound]);
  clearTimeout(timer);
}

/** What each statement of a trip returned, in order; null where nothing was sent. */
export type TripResults<Statements extends readonly (BoundStatement<unknown> | null)[]> = {
  readonly [Index in keyof Statements]: AnswerTo<Statements[Index]>;
};
type AnswerTo<Sent> = Sent extends BoundStatement<infer Row> ? Answer<Row> : null;

/** The rows of one statement and its command tag. */
export interface Answer<Row> {
  readonly rows: readonly Row[];
  readonly command: string;
}

/** One checked-out connection. `close` must be called exactly once, whatever happened. */
export class Session {
  readonly #client: PoolClient;
  readonly #timeoutMs: number;
  #broken = false;
  #trips = 0;

  private constructor(client: PoolClient, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  static async open(pool: Pool, limits: SessionLimits): Promise<Session> {
    // Whoever has to queue for a connection learns nothing about the database from waiting in vain.
    const isQueuing = pool.idleCount === 0 && pool.totalCount >= pool.options.max;
    try {
      return new Session(await pool.connect(), limits.statementTimeoutMs + ANSWER_SLACK_MS);
    } catch (error) {
      // A refusal that the server itself worded keeps its SQLSTATE; everything else is the network's.
      if (error instanceof pg.DatabaseError) throw error;
      if (isQueuing && isImpatience(error)) {
        throw new PoolBusyError({ size: pool.options.max }, { cause: error });
      }
      throw new ConnectionLostError({ cause: error });
    }
  }

  get trips(): number {
    return this.#trips;
  }

  /**
   * Sends all statements in one write and waits for all answers: one round trip. Throws the first error in their order, once
   * every statement was answered, so that no answer is still on its way when the connection is used again.
   */
  async trip<const Statements extends readonly (BoundStatement<unknown> | null)[]>(
    statements: Statements,
  ): Promise<TripResults<Statements>> {
    this.#trips += 1;
    const stream = streamOf(this.#client);
    stream.cork();
    const answers = statements.map((bound) => (bound === null ? NOTHING_SENT : this.#send(bound)));
    stream.uncork();
    const settled = await this.#answered(Promise.allSettled(answers));
    for (const answer of settled) {
      if (answer.status === "rejected") throw this.#explain(answer.reason);
    }
    return settled.map(
      (answer) => (answer as PromiseFulfilledResult<unknown>).value,
    ) as TripResults<Statements>;
  }

  /** Calls back for each NOTIFY on a channel that this session listens to, until the answer is called. */
  onNotification(heard: () => void): () => void {
    this.#client.on("notification", heard);
    return () => this.#client.off("notification", heard);
  }

  /** Gives the connection back if it is idle and may be used again, or destroys it. */
  async close({ reuse = true }: { readonly reuse?: boolean } = {}): Promise<void> {
    if (!reuse) this.#broken = true;
    if (!this.#broken && this.#client.getTransactionStatus() !== "I") {
      await this.trip([ROLLBACK]).catch(() => {
        this.#broken = true;
      });
    }
    const reusable = !this.#broken && this.#client.getTransactionStatus() === "I";
    // `end()` waits politely for a server that may never answer again; the socket is cut instead.
    if (!reusable) streamOf(this.#client).destroy();
    this.#client.release(!reusable);
  }

  #send({ name, text, values }: BoundStatement<unknown>): Promise<QueryResult> {
    return this.#client.query(name === "" ? text : { name, text, values: values as unknown[] });
  }

  async #answered<T>(answers: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.#broken = true;
        streamOf(this.#client).destroy();
        reject(new TripTimeoutError({ timeoutMs: this.#timeoutMs }));
      }, this.#timeoutMs);
    });
    try {
      return await Promise.race([answers, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  #explain(reason: unknown): unknown {
    if (reason instanceof pg.DatabaseError) return reason;
    this.#broken = true;
    return new ConnectionLostError({ cause: reason });
  }
}

/** The pool has no code for it. Whoever queues may be told as well what befell the connection that it would have had. */
function isImpatience(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("timeout exceeded when trying to connect");
}

/** Stands for a statement left out of a trip. */
const NOTHING_SENT: Promise<null> = Promise.resolve(null);

function streamOf(
  client: PoolClient,
): NodeJS.WritableStream & { cork(): void; uncork(): void; destroy(): void } {
  return (client as unknown as { connection: { stream: ReturnType<typeof streamOf> } }).connection.stream;
}

/** A statement without parameters, sent as it is. */
export function command(text: string): BoundStatement<never> {
  return { name: "", text, values: [] };
}

export const BEGIN = command("begin isolation level read committed");
export const BEGIN_SNAPSHOT = command("begin isolation level repeatable read read only");
export const COMMIT = command("commit");
export const ROLLBACK = command("rollback");
