import type { Random } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { enqueueEvent, UnusableEventError } from "@junban/upstream-outbox";
import pg from "pg";

const TAKES_BACK = 0.25;
const MOST_CONNECTIONS = 8;

/** Connections to the producer's database. A run that ends takes the server away from under them. */
export function openPool(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: MOST_CONNECTIONS });
  pool.on("error", () => undefined);
  return pool;
}

/**
 * A producer that owns a Postgres and knows nothing else: to publish is to commit there. Now and then it begins a transaction
 * that it takes back, with events that nobody may ever see.
 */
export class ProducerDoor {
  readonly #pool: pg.Pool;
  readonly #random: Random;
  readonly #takenBack: EventEnvelope[] = [];

  constructor({ pool, random }: { readonly pool: pg.Pool; readonly random: Random }) {
    this.#pool = pool;
    this.#random = random;
  }

  /** Events whose transactions were rolled back. Their ids are nobody else's. */
  get takenBack(): readonly EventEnvelope[] {
    return this.#takenBack;
  }

  /** All of them in one transaction: null for each once it is committed, or for each why it is not. */
  async publishAll(events: readonly EventEnvelope[]): Promise<readonly (string | null)[]> {
    if (events.length === 0) return [];
    try {
      if (this.#random.chance(TAKES_BACK)) await this.#takeBack(events);
      await this.#write(events, "commit");
      return events.map(() => null);
    } catch (error) {
      return events.map(() => codeOf(error));
    }
  }

  async #takeBack(events: readonly EventEnvelope[]): Promise<void> {
    const undone = events.map((event) => ({ ...event, id: `${event.id}~taken-back` }));
    this.#takenBack.push(...undone);
    await this.#write(undone, "rollback");
  }

  async #write(events: readonly EventEnvelope[], end: "commit" | "rollback"): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await client.query("begin");
      for (const event of inTurnOfOrders(events)) await enqueue(client, event);
      await client.query(end);
      client.release();
    } catch (error) {
      // With its session ends whatever is still open.
      client.release(true);
      throw error;
    }
  }
}

/** Data that breaks a rule goes in by the SQL function, as from a producer in another language: it is rejected in its place. */
async function enqueue(client: pg.PoolClient, event: EventEnvelope): Promise<void> {
  try {
    await enqueueEvent(client, event);
  } catch (error) {
    if (!(error instanceof UnusableEventError)) throw error;
    await client.query("select junban_upstream.enqueue_event($1::jsonb)", [JSON.stringify(event)]);
  }
}

/** Two transactions that take several orders in different turns could wait for each other. Within an order nothing moves. */
function inTurnOfOrders(events: readonly EventEnvelope[]): readonly EventEnvelope[] {
  return events.toSorted((one, other) => (one.lcid < other.lcid ? -1 : Number(one.lcid > other.lcid)));
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : String(error);
}
