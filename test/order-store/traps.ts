import { eventually } from "../support/index.ts";
import type { Shop } from "./shop.ts";

export type Table = "orders" | "order_lines" | "order_refs" | "order_events" | "outbox" | "purged_orders";
export type Moment = "insert" | "update" | "delete" | "commit of insert" | "commit of update";

export interface TrapSite {
  readonly table: Table;
  readonly on: Moment;
  /** Which rows spring it: a condition over NEW and OLD. Default: every row. */
  readonly when?: string;
  /** How often it springs before it stays quiet; default: for ever. Also counts in transactions that are rolled back. */
  readonly times?: number;
}

export interface Trap {
  /** How often it was stepped into since it was last armed, also while quiet. */
  steps(): Promise<number>;
  /** Lets it spring so many times from now on. */
  arm(times: number): Promise<void>;
  /** Makes it quiet. Like arming, it needs no lock on the table. */
  disarm(): Promise<void>;
}

/** A trap counts upwards and is quiet beyond this. A sequence, since it counts in transactions that are rolled back, too. */
const QUIET = 1_000_000_000;

/** Raises an error of the given SQLSTATE inside the statement that writes such a row. */
export async function raiseAt(
  shop: Shop,
  site: TrapSite & { code: string; constraint?: string },
): Promise<Trap> {
  const constraint = site.constraint === undefined ? "" : `, constraint = '${site.constraint}'`;
  return setTrap(shop, site, `raise exception 'a trap' using errcode = '${site.code}'${constraint};`);
}

/** Ends the writing session from inside, as an administrator does: FATAL 57P01. */
export async function terminateAt(shop: Shop, site: TrapSite): Promise<Trap> {
  return setTrap(shop, site, "perform pg_terminate_backend(pg_backend_pid());");
}

export async function sleepAt(shop: Shop, site: TrapSite & { seconds: number }): Promise<Trap> {
  return setTrap(shop, site, `perform pg_sleep(${site.seconds});`);
}

export interface Gate {
  /** Resolves when this many transactions stand before it (default 1), each holding all its locks. */
  occupied(count?: number): Promise<void>;
  open(): Promise<void>;
}

/**
 * A closed gate in the middle of a transaction: whoever writes such a row waits there, for as long as the test wants. Give the
 * stores under test limits that are longer than that.
 */
export async function closedGate(shop: Shop, site: TrapSite): Promise<Gate> {
  const keeper = await shop.session();
  await shop.sql("create sequence if not exists gates start 7000");
  const [key] = await shop.sql<{ key: number }>("select nextval('gates')::int as key");
  await keeper.query("select pg_advisory_lock($1)", [key!.key]);
  // Shared, so that several may pass at once when it opens.
  await setTrap(shop, site, `perform pg_advisory_xact_lock_shared(${key!.key});`);
  return {
    occupied: async (count = 1) =>
      eventually(async () => {
        const rows = await shop.sql(
          `select pid from pg_locks where locktype = 'advisory' and objid = $1 and not granted
             and database = (select oid from pg_database where datname = current_database())`,
          [key!.key],
        );
        return rows.length >= count;
      }).then(() => undefined),
    open: async () => {
      await keeper.query("select pg_advisory_unlock($1)", [key!.key]);
    },
  };
}

/** Resolves when a session of this database waits for a lock that another one holds. */
export async function eventuallyBlocked(shop: Shop, count = 1): Promise<void> {
  await eventually(async () => {
    const rows = await shop.sql(
      `select pid from pg_stat_activity
       where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
    );
    return rows.length >= count;
  });
}

async function setTrap(shop: Shop, site: TrapSite, action: string): Promise<Trap> {
  await shop.sql("create sequence if not exists traps");
  const [numbered] = await shop.sql<{ number: number }>("select nextval('traps')::int as number");
  const name = `trap_${numbered!.number}`;
  const { times = QUIET, when = "true", table } = site;
  const [atCommit, verb] = site.on.startsWith("commit of ")
    ? [true, site.on.slice("commit of ".length)]
    : [false, site.on];
  await shop.sql(`create sequence ${name} start ${QUIET - times + 1}`);
  let first = QUIET - times + 1;
  await shop.sql(
    `create function ${name}() returns trigger language plpgsql as $$ begin
       if ${when} then if nextval('${name}') <= ${QUIET} then ${action} end if; end if;
       return coalesce(new, old);
     end $$`,
  );
  await shop.sql(
    atCommit
      ? `create constraint trigger ${name} after ${verb} on ${table} deferrable initially deferred
           for each row execute function ${name}()`
      : `create trigger ${name} before ${verb} on ${table} for each row execute function ${name}()`,
  );
  const arm = async (count: number): Promise<void> => {
    first = QUIET - count + 1;
    await shop.sql(`select setval('${name}', ${first}, false)`);
  };
  return {
    steps: async () => {
      const [row] = await shop.sql<{ next: number }>(
        `select (last_value + is_called::int)::int as next from ${name}`,
      );
      return row!.next - first;
    },
    arm,
    disarm: async () => arm(0),
  };
}
