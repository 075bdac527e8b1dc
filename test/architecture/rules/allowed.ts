import type { Allowed } from "./violation.ts";

/**
 * Every exception to the rules in this folder, with the reason somebody argued for. The lists can only shrink: an entry
 * that nothing needs any more fails the run.
 */
export const ALLOWED = {
  arrows: [],
  deepImports: [],
  faces: [],
  undeclared: [],
  idle: [],
  libraries: [
    {
      where: "apps/chaos/src/edges/producer-door.ts",
      reason:
        "it plays a producer that owns a Postgres: the outbox is lent a transaction that somebody else began with pg",
    },
  ],
  sql: [
    {
      where: "apps/bench/src/contenders/graphile.ts",
      reason: "Graphile Worker has no call that counts its jobs; its documentation names a view to ask",
    },
    {
      where: "apps/bench/src/counts/postgres-counter.ts",
      reason: "it tells by the tags of Postgres' answers where transactions begin and end; it asks nothing",
    },
    {
      where: "apps/chaos/src/edges/producer-door.ts",
      reason:
        "it plays a producer, which ends its transactions itself, and in another language calls the function of the outbox",
    },
  ],
  lua: [],
  fileLengths: [],
  functionLengths: [],
  moduleState: [
    {
      where: "packages/order-store/src/statement.ts#db",
      reason: "a kysely without a connection: it only compiles SQL and remembers nothing",
    },
  ],
  luaHeaders: [],
  suppressions: [],
  dodgedTests: [],
  names: [],
} as const satisfies Readonly<Record<string, readonly Allowed[]>>;

/** How many suppressions each file holds. Adding one means coming here and saying so; removing one as well. */
export const COUNTED_SUPPRESSIONS: Readonly<Record<string, number>> = {
  "packages/order-store/src/session.ts": 1,
  "packages/orders/src/text-rules.ts": 1,
};
