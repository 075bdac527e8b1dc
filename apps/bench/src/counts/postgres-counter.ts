import type { ChunkHook } from "@junban/sandbox";
import { type PostgresMessage, PostgresMessageReader } from "./postgres-messages.ts";

export interface PostgresCounts {
  /** Times that a client sent something while no answer was due, and then waited. */
  readonly trips: number;
  readonly commits: number;
  /** Of the trips: those that began a transaction or were made in one, not those of single statements. */
  readonly transactionTrips: number;
}

type Tally = { -readonly [Name in keyof PostgresCounts]: number };

/** Counts what goes through a proxy in front of Postgres, over connections without encryption. */
export class PostgresCounter {
  readonly #connections = new Map<number, CountedConnection>();
  readonly #tally: Tally = { trips: 0, commits: 0, transactionTrips: 0 };

  readonly hook: ChunkHook = (direction, chunk, number) => {
    const connection = this.#connections.get(number) ?? new CountedConnection(this.#tally);
    this.#connections.set(number, connection);
    if (direction === "toServer") connection.ask(chunk);
    else connection.answer(chunk);
    return undefined;
  };

  /** Forgets what was counted so far, but not where its connections are. */
  reset(): void {
    Object.assign(this.#tally, { trips: 0, commits: 0, transactionTrips: 0 });
  }

  counts(): PostgresCounts {
    return { ...this.#tally };
  }
}

/** Messages that the server answers with "ready for query": the nameless one that opens a connection, query, sync, call. */
const ASKING: ReadonlySet<string> = new Set(["", "Q", "S", "F"]);
const COMMAND_COMPLETE = "C";
const READY_FOR_QUERY = "Z";

class CountedConnection {
  readonly #tally: Tally;
  readonly #client = new PostgresMessageReader("client", ({ kind }) => this.#asked(kind));
  readonly #server = new PostgresMessageReader("server", (message) => this.#answered(message));
  #answersDue = 0;
  #isOnTrip = false;
  #isTripOfTransaction = false;
  #isInTransaction = false;

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  ask(chunk: Buffer): void {
    if (!this.#isOnTrip) {
      this.#isOnTrip = true;
      this.#isTripOfTransaction = false;
      this.#tally.trips += 1;
      if (this.#isInTransaction) this.#countForTransaction();
    }
    this.#client.read(chunk);
  }

  answer(chunk: Buffer): void {
    this.#server.read(chunk);
    // One large write may arrive in pieces, the first of which was answered already: that is no second trip.
    if (this.#answersDue === 0 && this.#client.isBetweenMessages) this.#isOnTrip = false;
  }

  #asked(kind: string): void {
    if (ASKING.has(kind)) this.#answersDue += 1;
  }

  #answered({ kind, body }: PostgresMessage): void {
    if (kind === READY_FOR_QUERY) {
      this.#answersDue -= 1;
      this.#isInTransaction = body.toString("latin1") !== "I";
    }
    if (kind !== COMMAND_COMPLETE) return;
    const command = body.toString("latin1").replace("\0", "");
    if (command === "COMMIT") this.#tally.commits += 1;
    if (command === "BEGIN") this.#countForTransaction();
  }

  #countForTransaction(): void {
    if (this.#isTripOfTransaction) return;
    this.#isTripOfTransaction = true;
    this.#tally.transactionTrips += 1;
  }
}
