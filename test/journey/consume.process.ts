/** A subscriber that notes each version in its own database, in the transaction in which the version advances. */
import { consumeOrderUpdates, createGuardTable } from "@junban/order-updates";
import pg from "pg";

const { DATABASE_URL, REDIS_URL = "" } = process.env;

interface Told {
  readonly event: { readonly source: string; readonly id: string };
  readonly order: object;
}

const pool = new pg.Pool({ connectionString: DATABASE_URL });
pool.on("error", () => undefined);
await createGuardTable(pool);
await consumeOrderUpdates(
  {
    redis: REDIS_URL,
    name: "journal",
    database: pool,
    leaseMs: 2_000,
    // Whatever dies on the way, nothing may be passed over.
    gapWaitMs: Number.POSITIVE_INFINITY,
    onError: (error) => process.stderr.write(`${error.name}: ${error.message}\n`),
  },
  async ({ lcid, version, payload }, { transaction }) => {
    const { event, order } = payload as unknown as Told;
    await transaction.query(
      "insert into journal (lcid, version, source, event_id, order_then) values ($1, $2, $3, $4, $5)",
      [lcid, version, event.source, event.id, JSON.stringify(order)],
    );
  },
);
process.stdout.write("the consumer runs\n");
