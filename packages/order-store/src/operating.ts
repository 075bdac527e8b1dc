import { sql } from "kysely";
import { EventNotFoundError, NoAlertError, ReleaseInterruptedError, WrongOutcomeError } from "./errors.ts";
import { ask, change, onLockedOrder, type LockedOrder, type MaintenanceContext } from "./locked-order.ts";
import type { OrderWork } from "./order-work.ts";
import { deferredFor, eventForOperator, standingInFront, unsupportedEvents } from "./reading.ts";
import { readEvent } from "./reporting.ts";
import { bind, db, statement } from "./statement.ts";
import type { EventReport, MaintenanceLocator, OperatorResult } from "./types.ts";
import type { Answer } from "./verdicts.ts";
import { placeOf, waitingEvent, type WaitingRow } from "./waiting.ts";

/** What an operator, or the sweeper, does to events on record. Each call locks one order at a time. */

/** Blocked or unsupported events decided in one transaction; a long line is worked off in several. */
const STEP_SIZE = 100;
/** In front of the reason, behind whatever else stands in the event's detail. */
const ACKNOWLEDGED = "acknowledged: ";

interface Identity {
  readonly source: string;
  readonly id: string;
}

const acknowledgeAlert = statement<{ source: string; id: string; remark: string }>()(
  "acknowledge_alert",
  ({ source, id, remark }) =>
    db
      .updateTable("order_events")
      .set({ alert: false, detail: sql<string>`concat_ws('; ', detail, ${remark}::text)` })
      .where("source", "=", source)
      .where("event_id", "=", id)
      .where("outcome", "=", sql.lit("rejected"))
      .where("alert", "=", sql.lit(true))
      .returning("reason"),
);

export async function replay(context: MaintenanceContext, identity: Identity): Promise<OperatorResult> {
  const { lcid } = await find(context, identity);
  const answer = await onLockedOrder(context, lcid, async (order) => {
    const row = await recorded(order, identity);
    if (row.outcome === "applied" || row.outcome === "duplicate" || row.outcome === "deferred") {
      throw new WrongOutcomeError({ outcome: row.outcome, version: row.version, asked: "replay" });
    }
    const waiting = waitingEvent(row);
    if (waiting === null) {
      throw new WrongOutcomeError({
        outcome: `${row.outcome} ${row.reason ?? ""} and not kept whole`,
        asked: "replay",
      });
    }
    const work = await order.workFor([waiting]);
    // Its place is behind whatever else stands failed or blocked in front of it.
    const isBehind = order.row.halted && (await inFront(order, waiting.arrival)) > 0;
    const decided = isBehind ? work.block(waiting) : work.decideAgain(waiting);
    await order.commit(work);
    return decided;
  });
  return withReleased(context, { lcid, identity, answer });
}

export async function drop(
  context: MaintenanceContext,
  { source, id, reason }: Identity & { reason: string },
): Promise<OperatorResult> {
  const identity = { source, id };
  const found = await find(context, identity);
  if (found.outcome === "rejected") return acknowledge(context, { source, id, reason });
  const answer = await onLockedOrder(context, found.lcid, async (order) => {
    const row = await recorded(order, identity);
    if (row.outcome !== "failed" && row.outcome !== "deferred") {
      throw new WrongOutcomeError({ outcome: row.outcome, version: row.version, asked: "drop" });
    }
    const work = await order.workFor([]);
    const dropped = work.drop(placeOf(row), reason);
    await order.commit(work);
    return dropped;
  });
  return withReleased(context, { lcid: found.lcid, identity, answer });
}

/** Only while the alert is open: whoever comes second would add a reason to what is settled. */
async function acknowledge(
  context: MaintenanceContext,
  { source, id, reason }: Identity & { reason: string },
): Promise<OperatorResult> {
  const remark = `${ACKNOWLEDGED}${reason}`;
  const [row] = await change(context, bind(acknowledgeAlert, { source, id, remark }));
  if (row !== undefined) {
    return {
      outcome: "rejected",
      reason: row.reason,
      version: null,
      released: 0,
      halted: false,
      acknowledged: true,
    };
  }
  const event = await readEvent(context, { source, id });
  if (event === null) throw new EventNotFoundError({ source, id });
  throw new NoAlertError({ source, id, settled: settledAs(event) });
}

function settledAs({ reason, detail }: Pick<EventReport, "reason" | "detail">) {
  // The detail of what was given up is somebody's own words.
  if (reason === "DROPPED") return "dropped";
  return `; ${detail ?? ""}`.includes(`; ${ACKNOWLEDGED}`) ? "acknowledged" : null;
}

/**
 * Decides a halted order's blocked events by arrival, in steps; the order stays halted until none is left, so that nothing
 * new can slip in between. Stops behind an event that fails again.
 */
export async function releaseHalted(
  context: MaintenanceContext,
  lcid: string,
): Promise<{ released: number; halted: boolean }> {
  let released = 0;
  for (;;) {
    const step = await onLockedOrder(context, lcid, releaseStep);
    if (step === null) return { released, halted: false };
    released += step.decided;
    if (!step.more) return { released, halted: step.halted };
  }
}

async function releaseStep(order: LockedOrder): Promise<{ decided: number; more: boolean; halted: boolean }> {
  const { lcid, halted } = order.row;
  if (!halted) return { decided: 0, more: false, halted: false };
  const [front] = await order.read(bind(standingInFront, { lcid, before: Number.MAX_SAFE_INTEGER }));
  if (front === undefined || front.failed > 0) return { decided: 0, more: false, halted: true };
  // One more than is decided now tells whether this step is the last, so that the flag falls together with it.
  const rows = await order.read(
    bind(deferredFor, { lcid, reason: "BLOCKED", after: 0, limit: STEP_SIZE + 1 }),
  );
  const step = rows.slice(0, STEP_SIZE);
  const work = await order.workFor(step.flatMap((row) => waitingEvent(row) ?? []));
  const decided = decideInTurn(work, step);
  const more = !work.stopped && rows.length > step.length;
  work.halt(more || work.stopped);
  await order.commit(work);
  return { decided, more, halted: work.halted };
}

async function inFront(order: LockedOrder, before: number): Promise<number> {
  const [front] = await order.read(bind(standingInFront, { lcid: order.row.lcid, before }));
  return front === undefined ? 0 : front.failed + front.blocked;
}

/** Returns how many were decided: all of them, unless one failed. */
function decideInTurn(work: OrderWork, rows: readonly WaitingRow[]): number {
  for (const [index, row] of rows.entries()) {
    const waiting = waitingEvent(row);
    if (waiting === null) work.setAside(placeOf(row));
    else work.decideAgain(waiting);
    // Whatever comes behind a failed event stays where it is; it may have failed in the wake of this one.
    if (work.stopped) return index + 1;
  }
  return rows.length;
}

/** Orders with events that an older build did not know and this one does; what neither knows is passed over. */
export async function ordersWithUnsupported(
  context: MaintenanceContext,
  { after = "", limit }: MaintenanceLocator,
): Promise<readonly string[]> {
  const lcids = new Set<string>();
  let place = { lcid: after, arrival: Number.MAX_SAFE_INTEGER };
  for (;;) {
    const rows = await ask(context, bind(unsupportedEvents, { ...place, limit: STEP_SIZE }));
    for (const row of rows) if (waitingEvent(row) !== null) lcids.add(row.lcid);
    const last = rows.at(-1);
    if (last === undefined || lcids.size >= limit) return [...lcids].slice(0, limit);
    place = { lcid: last.lcid, arrival: last.arrival };
  }
}

/** Decides events that an older build did not know, by arrival; a halted order's stay where they are. */
export async function redecideUnsupported(context: MaintenanceContext, lcid: string): Promise<number> {
  const decided = await onLockedOrder(context, lcid, async (order) => {
    if (order.row.halted) return 0;
    const known = await firstKnown(order);
    if (known.length === 0) return 0;
    const work = await order.workFor(known.flatMap((row) => waitingEvent(row) ?? []));
    const count = decideInTurn(work, known);
    await order.commit(work);
    return count;
  });
  return decided ?? 0;
}

/** The first of an order's unsupported events that this build can decide, however many it cannot stand in front of them. */
async function firstKnown(order: LockedOrder): Promise<readonly WaitingRow[]> {
  const { lcid } = order.row;
  let after = 0;
  for (;;) {
    const rows = await order.read(
      bind(deferredFor, { lcid, reason: "UNSUPPORTED", after, limit: STEP_SIZE }),
    );
    const known = rows.filter((row) => waitingEvent(row) !== null);
    if (known.length > 0 || rows.length < STEP_SIZE) return known;
    after = rows.at(-1)?.arrival ?? after;
  }
}

async function withReleased(
  context: MaintenanceContext,
  { lcid, identity, answer }: { lcid: string; identity: Identity; answer: Answer | null },
): Promise<OperatorResult> {
  if (answer === null) throw new EventNotFoundError(identity);
  const { released, halted } = await releaseHalted(context, lcid).catch((cause: unknown) => {
    throw new ReleaseInterruptedError({ lcid }, { cause });
  });
  return {
    outcome: answer.outcome as OperatorResult["outcome"],
    reason: answer.reason,
    version: answer.version,
    released,
    halted,
    acknowledged: false,
  };
}

type OperatorRow = WaitingRow & { readonly outcome: string; readonly version: number | null };

async function find(context: MaintenanceContext, identity: Identity): Promise<OperatorRow> {
  const [row] = await ask(context, bind(eventForOperator, { source: identity.source, id: identity.id }));
  if (row === undefined) throw new EventNotFoundError(identity);
  return row;
}

async function recorded(order: LockedOrder, identity: Identity): Promise<OperatorRow> {
  const [row] = await order.read(bind(eventForOperator, { source: identity.source, id: identity.id }));
  if (row === undefined) throw new EventNotFoundError(identity);
  return row;
}
