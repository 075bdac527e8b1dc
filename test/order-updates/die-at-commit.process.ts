/** Consumes with a database, and dies by SIGKILL just before or just after its first effect commits. */
import pg from "pg";
import { consumeOrderUpdates } from "../../packages/order-updates/src/index.ts";
import type { Database } from "../../packages/order-updates/src/index.ts";

const [redis = "", prefix = "", connectionString = "", moment = ""] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString });
const die = (): void => process.kill(process.pid, "SIGKILL") && undefined;
let isEffect = false;

const database: Database = {
  connect: async () => {
    const client = await pool.connect();
    return {
      on: (event, listener) => client.on(event, listener),
      off: (event, listener) => client.off(event, listener),
      release: (destroy) => client.release(destroy),
      query: async (text, values) => {
        const isLast = text === "commit" && isEffect;
        if (isLast && moment === "before") die();
        const answer = await client.query(text, values);
        if (isLast && moment === "after") die();
        return answer;
      },
    };
  },
};

await consumeOrderUpdates(
  { redis, prefix, name: "billing", leaseMs: 1_000, database },
  async ({ lcid, version }, { transaction }) => {
    isEffect = true;
    await transaction.query("insert into effects (name, lcid, version) values ('billing', $1, $2)", [
      lcid,
      version,
    ]);
  },
);
