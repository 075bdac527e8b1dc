import { channel } from "node:diagnostics_channel";
import { decide } from "@junban/orders";
import { sql } from "kysely";
import { applyLanes } from "./apply.ts";
import { audit } from "./auditing.ts";
import { expireHeld, ordersWithOverdue } from "./expiring.ts";
import { deadReasons, findEvents, listHalted, pulse, readUnknown } from "./finding.ts";
import { readHealth, type StoreHealth } from "./health.ts";
import { ask, type MaintenanceContext } from "./locked-order.ts";
import { NewsBell } from "./news-bell.ts";
import { drop, ordersWithUnsupported, redecideUnsupported, releaseHalted, replay } from "./operating.ts";
import { beginAction, endAction, listActions, readAction } from "./operator-actions.ts";
import type { Policy } from "./order-work.ts";
import { ringOutbox } from "./outbox.ts";
import { dropParked, listParked, putBackParked } from "./parking.ts";
import { purgeableOrders, purgeOne, readPurged } from "./purging.ts";
import { gauges, listDead, listHeld, ping, readEvent, readHistory, readOrder, summary } from "./reporting.ts";
import { createPool, endPool, type SessionLimits } from "./session.ts";
import { bind, db, statement } from "./statement.ts";
import type {
  ActionEnd,
  ActionReport,
  AuditFinding,
  CommitFacts,
  DeadLetter,
  EventReport,
  HaltedOrder,
  HeldReport,
  LaneBatch,
  LaneResult,
  MaintenanceLocator,
  NewAction,
  OperatorResult,
  OrderReport,
  ParkedNews,
  PurgedOrder,
  PutBackResult,
  StoreGauges,
  StorePulse,
  StoreSummary,
  UnknownEvents,
} from "./types.ts";

export interface OrderStoreOptions {
  readonly databaseUrl: string;
  /** Connections for `apply`; default 8. Reports and maintenance use up to two more. */
  readonly poolSize?: number;
  /** Per statement, milliseconds; default 5000. Keep it below the lease. */
  readonly statementTimeoutMs?: number;
  /** Longest wait for another transaction's row lock, milliseconds; default 2000. Keep it below the lease. */
  readonly lockTimeoutMs?: number;
  /** The server ends a transaction that sits idle this long, milliseconds; default 5000. Keep it below the lease. */
  readonly idleTransactionTimeoutMs?: number;
  /**
   * The server ends a transaction that lasts this long, whatever it does (Postgres 17 and later), milliseconds; default:
   * statement and lock limit together. Keep it below the lease.
   */
  readonly transactionTimeoutMs?: number;
  /** How long events wait for a payment, milliseconds; default 72 hours. */
  readonly holdPaymentMs?: number;
  /** How long other early events wait, milliseconds; default 24 hours. */
  readonly holdMs?: number;
  /** Whether an event that fails halts its order (`halt`, default) or is left aside (`skip`). */
  readonly poison?: "halt" | "skip";
  /** Stored with each event, so that people see which process decided it. */
  readonly worker: string;
  /** The decision itself; default `decide` of `@junban/orders`. */
  readonly decide?: typeof decide;
  /** Told after each commit; must not throw. */
  readonly onCommit?: (facts: CommitFacts) => void;
}

/**
 * Everything the fleet asks of Postgres. Each call has an upper bound: its statements' and locks' limits.
 * Calls other than `apply` throw a typed error, or the server's own, when Postgres refuses or does not answer.
 */
export interface OrderStore {
  /**
   * Applies at most 32 lanes' batches, at most one a lcid, in as few transactions as their trouble allows. Never throws for
   * trouble of the database or of an event: each lane's result says what was settled, and why not all.
   */
  apply(batches: readonly LaneBatch[]): Promise<readonly LaneResult[]>;
  /** Resolves when Postgres answers. */
  ping(): Promise<void>;
  readOrder(lcid: string): Promise<OrderReport | null>;
  /** All events of an order by arrival. */
  readHistory(lcid: string): Promise<readonly EventReport[]>;
  readEvent(event: { source: string; id: string }): Promise<EventReport | null>;
  /** Events of that id, whichever source they came from, at most `limit`. */
  findEvents(options: { id: string; limit: number }): Promise<readonly EventReport[]>;
  /** Held events, those due first in front; those without a deadline last. */
  listHeld(options: { dueWithinMs?: number; limit: number }): Promise<readonly HeldReport[]>;
  /**
   * Dead letters, newest first, from below the number `before`. `alerting`: rejected ones whose alert nobody has acknowledged.
   */
  listDead(options: {
    reason?: string;
    outcome?: "failed" | "rejected" | "alerting";
    lcid?: string;
    before?: number;
    limit: number;
  }): Promise<readonly DeadLetter[]>;
  /** Reasons of the 10,000 newest dead letters, each once, by name. */
  deadReasons(): Promise<readonly string[]>;
  /** Events held as `UNSUPPORTED`, and their types, of up to 10,000 of them; null when there is none. */
  readUnknown(): Promise<UnknownEvents | null>;
  /** Orders that stand behind a failed event, by name, from behind `after`. */
  listHalted(options: { after?: string; limit: number }): Promise<readonly HaltedOrder[]>;
  /** News that could not be passed on, oldest first; those behind the number `after`, default all. */
  listParked(options: { limit: number; after?: number }): Promise<readonly ParkedNews[]>;
  /** Gives parked news back to the relay, in their old place. At most 1,000 at once. @throws {AssertionError} for more. */
  putBackParked(ids: readonly number[]): Promise<PutBackResult>;
  /** Deletes parked news for good; false when nothing of that number is parked. */
  dropParked(id: number): Promise<boolean>;
  /** For metrics: cheap however many events there are. */
  gauges(): Promise<StoreGauges>;
  /** How it goes, and what was decided since the number `after`, which an earlier pulse gave; for watching. */
  pulse(options?: { readonly after?: number | null }): Promise<StorePulse>;
  summary(): Promise<StoreSummary>;
  /** The server itself: its settings, limits, clock, and how its largest tables fare. Works without the schema. */
  health(): Promise<StoreHealth>;
  /** Orders with held events whose deadline has passed. */
  dueHeld(options: MaintenanceLocator): Promise<readonly string[]>;
  /** Rejects an order's overdue held events; returns how many. */
  expireHeld(lcid: string): Promise<number>;
  /** Orders with events deferred UNSUPPORTED that this build knows how to decide. */
  unsupported(options: MaintenanceLocator): Promise<readonly string[]>;
  /** Decides those events of one order by arrival; returns how many were decided. */
  redecideUnsupported(lcid: string): Promise<number>;
  /** Orders that are halted although none of their events is failed any more: a release was interrupted half-way. */
  stuckHalted(options: MaintenanceLocator): Promise<readonly string[]>;
  /** Decides the blocked events of such an order, by arrival, and lets it go on; returns how many. */
  releaseHalted(lcid: string): Promise<number>;
  /**
   * Decides a failed or rejected event again, in its place, and after a failed one the events it blocked. This and the calls below that
   * change something throw `CommitUnknownError` where it is not known whether they did, and `replay` and `drop`
   * `ReleaseInterruptedError` where they did in part; after every other error nothing was changed.
   */
  replay(event: { source: string; id: string }): Promise<OperatorResult>;
  /** Gives a failed or held event up for good, with a reason, or acknowledges a rejected one's alert. */
  drop(event: { source: string; id: string; reason: string }): Promise<OperatorResult>;
  /** Notes what a person is about to do; returns the number of the note. */
  beginAction(action: NewAction): Promise<number>;
  /** Notes what came of it. The first word stands. */
  endAction(action: { readonly id: number } & ActionEnd): Promise<void>;
  readAction(id: number): Promise<ActionReport | null>;
  /** Newest first, from below `before`. */
  listActions(options: { before?: number; limit: number }): Promise<readonly ActionReport[]>;
  /** Folds each order's history and compares it with the stored rows; all orders by default, in ascending order. */
  audit(lcids?: readonly string[]): AsyncIterable<AuditFinding>;
  /** Finished orders not changed for that long. */
  purgeable(options: MaintenanceLocator & { olderThanMs: number }): Promise<readonly string[]>;
  /** Deletes one finished order and its events and leaves a tombstone; false when it is not finished or not there. */
  purgeOne(lcid: string): Promise<boolean>;
  /** Those of the orders that were purged, and when; of their events nothing is on record. */
  readPurged(lcids: readonly string[]): Promise<readonly PurgedOrder[]>;
  /** Connections in use now. */
  poolInUse(): number;
  /** Ends all connections; bounded even when the server does not answer. */
  close(): Promise<void>;
}

const haltedWithoutFailure = statement<{ after: string; limit: number }>()(
  "halted_without_failure",
  ({ after, limit }) =>
    db
      .selectFrom("orders as o")
      .select("o.lcid")
      .where("o.halted", "=", sql.lit(true))
      .where("o.lcid", ">", after)
      .where((where) =>
        where.not(
          where.exists((inner) =>
            inner
              .selectFrom("order_events as e")
              .select("e.lcid")
              .whereRef("e.lcid", "=", "o.lcid")
              .where("e.outcome", "=", sql.lit("failed")),
          ),
        ),
      )
      .orderBy("o.lcid")
      .limit(sql<number>`${limit}::int`),
);

/**
 * Told in this process on `node:diagnostics_channel` just before an event is decided, with the event itself: what a process
 * was about to decide is the first thing to ask when it dies.
 */
const DECIDING = channel("junban.event.deciding");

function told(decideEvent: typeof decide): typeof decide {
  return (view, event) => {
    if (DECIDING.hasSubscribers) DECIDING.publish(event);
    return decideEvent(view, event);
  };
}

/** Reports and maintenance have connections of their own, so that they never wait behind `apply`, nor it behind them. */
const MAINTENANCE_CONNECTIONS = 2;

/** Opens nothing yet: connections are made when they are first needed. */
export function createOrderStore(options: OrderStoreOptions): OrderStore {
  const { statementTimeoutMs = 5_000, lockTimeoutMs = 2_000, idleTransactionTimeoutMs = 5_000 } = options;
  const { transactionTimeoutMs = statementTimeoutMs + lockTimeoutMs } = options;
  const limits: SessionLimits = {
    statementTimeoutMs,
    lockTimeoutMs,
    idleTransactionTimeoutMs,
    transactionTimeoutMs,
  };
  const policy: Policy = {
    holdPaymentMs: options.holdPaymentMs ?? 72 * 3_600_000,
    holdMs: options.holdMs ?? 24 * 3_600_000,
    poison: options.poison ?? "halt",
    decide: told(options.decide ?? decide),
  };
  const { databaseUrl, worker, onCommit = () => undefined } = options;
  const applying = createPool({
    databaseUrl,
    size: options.poolSize ?? 8,
    limits,
    applicationName: `junban apply ${worker}`,
    pinPlans: true,
  });
  const pool = createPool({
    databaseUrl,
    size: MAINTENANCE_CONNECTIONS,
    limits,
    applicationName: `junban ${worker}`,
    pinPlans: false,
  });
  const context: MaintenanceContext = { pool, limits, policy, worker };
  const bell = new NewsBell(() => ask(context, bind(ringOutbox, {})));
  const lcidsOf = async (rows: Promise<readonly { lcid: string }[]>): Promise<readonly string[]> =>
    (await rows).map(({ lcid }) => lcid);
  return {
    apply: (batches) => applyLanes({ ...context, pool: applying, onCommit: bell.ringing(onCommit) }, batches),
    ...questions(context),
    ping: async () => {
      await ask(context, bind(ping, {}));
    },
    putBackParked: (ids) => putBackParked(context, ids),
    dropParked: (id) => dropParked(context, id),
    health: () => readHealth(context),
    dueHeld: ({ limit, after = "" }) => lcidsOf(ask(context, bind(ordersWithOverdue, { after, limit }))),
    expireHeld: (lcid) => expireHeld(context, lcid),
    unsupported: (locator) => ordersWithUnsupported(context, locator),
    redecideUnsupported: (lcid) => redecideUnsupported(context, lcid),
    stuckHalted: ({ limit, after = "" }) =>
      lcidsOf(ask(context, bind(haltedWithoutFailure, { after, limit }))),
    releaseHalted: async (lcid) => (await releaseHalted(context, lcid)).released,
    replay: (event) => replay(context, event),
    drop: (event) => drop(context, event),
    audit: (lcids) => audit(context, lcids),
    purgeable: ({ olderThanMs, limit, after = "" }) =>
      lcidsOf(ask(context, bind(purgeableOrders, { olderThanMs, after, limit }))),
    purgeOne: (lcid) => purgeOne(context, lcid),
    poolInUse: () => applying.totalCount - applying.idleCount,
    close: async () => {
      bell.close();
      await Promise.all([endPool(applying, limits), endPool(pool, limits)]);
    },
  };
}

/** What people ask, and the record of what they did. */
function questions(context: MaintenanceContext): Questions {
  return {
    readOrder: (lcid) => readOrder(context, lcid),
    readHistory: (lcid) => readHistory(context, lcid),
    readEvent: (event) => readEvent(context, event),
    findEvents: (query) => findEvents(context, query),
    listHeld: (query) => listHeld(context, query),
    listDead: (query) => listDead(context, query),
    deadReasons: () => deadReasons(context),
    readUnknown: () => readUnknown(context),
    listHalted: (query) => listHalted(context, query),
    listParked: (query) => listParked(context, query),
    readPurged: (lcids) => readPurged(context, lcids),
    gauges: () => gauges(context),
    pulse: (options) => pulse(context, options),
    summary: () => summary(context),
    beginAction: (action) => beginAction(context, action),
    endAction: (action) => endAction(context, action),
    readAction: (id) => readAction(context, id),
    listActions: (query) => listActions(context, query),
  };
}

type Questions = Pick<
  OrderStore,
  | "readOrder"
  | "readHistory"
  | "readEvent"
  | "findEvents"
  | "listHeld"
  | "listDead"
  | "deadReasons"
  | "readUnknown"
  | "listHalted"
  | "listParked"
  | "readPurged"
  | "gauges"
  | "pulse"
  | "summary"
  | "beginAction"
  | "endAction"
  | "readAction"
  | "listActions"
>;
