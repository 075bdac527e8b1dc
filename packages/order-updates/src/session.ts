import type { Database, DatabaseClient, Transaction } from "./contract.ts";
import { GuardUnavailableError, TransactionEndedError } from "./errors.ts";

type Answer = Awaited<ReturnType<DatabaseClient["query"]>>;

/** Borrows a connection, rolls back what is open when the work fails, and gives back only what nobody needs to fear. */
export async function withSession<Result>(
  { database, limitMs }: { readonly database: Database; readonly limitMs: number },
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const client = await borrow(database, limitMs);
  // A session that the server ends would otherwise end the process; the statement under way tells of it.
  const ignore = (): void => undefined;
  client.on("error", ignore);
  const session = new Session(client, limitMs);
  try {
    return await work(session);
  } catch (error) {
    await session.rollBack();
    throw error;
  } finally {
    client.release(session.isBroken);
    // One that is thrown away may still have something to say.
    if (!session.isBroken) client.off("error", ignore);
  }
}

/** One connection for a while. A statement that is not answered within the limit fails, and the connection is destroyed. */
export class Session {
  readonly #client: DatabaseClient;
  readonly #limitMs: number;
  #isBroken = false;

  constructor(client: DatabaseClient, limitMs: number) {
    this.#client = client;
    this.#limitMs = limitMs;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  async query(text: string, values?: unknown[]): Promise<Answer> {
    const asked = this.#client.query(text, values);
    return answered(asked, this.#limitMs, () => {
      this.#isBroken = true;
    });
  }

  async rollBack(): Promise<void> {
    if (this.#isBroken) return;
    await this.query("rollback").catch(() => {
      this.#isBroken = true;
    });
  }

  /** Lends the open transaction for as long as the work lasts. Kept longer, it reaches nothing: the connection is others' by then. */
  async lend(work: (transaction: Transaction) => Promise<void>): Promise<void> {
    let isOver = false;
    const query: Transaction["query"] = async (text, values) => {
      if (isOver) throw new TransactionEndedError();
      return this.query(text, values);
    };
    try {
      await work({ query });
    } finally {
      isOver = true;
    }
  }
}

async function borrow(database: Database, limitMs: number): Promise<DatabaseClient> {
  const asked = database.connect();
  let isLate = false;
  asked.then(
    (client) => {
      if (isLate) client.release();
    },
    () => undefined,
  );
  return answered(asked, limitMs, () => {
    isLate = true;
  });
}

async function answered<T>(asked: Promise<T>, limitMs: number, onLate: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      onLate();
      reject(new GuardUnavailableError({ detail: `Postgres did not answer within ${limitMs} ms` }));
    }, limitMs);
  });
  try {
    return await Promise.race([asked, limit]);
  } finally {
    clearTimeout(timer);
  }
}
