import { emptyOrder, type EventEnvelope } from "@junban/orders";
import { DeadlinePassedError, NotCommittedError, PurgedMeanwhileError } from "./errors.ts";
import { OrderWork, type Policy } from "./order-work.ts";
import type { PreparedEvent } from "./prepared.ts";
import {
  heldOf,
  inbox,
  insertShells,
  knownOrders,
  linesOf,
  lockFreeOrders,
  lockOrders,
  refsNamed,
} from "./reading.ts";
import { columnsOf, namesOf } from "./references.ts";
import { stateOf, type Bookkeeping, type StoredOrder } from "./rows.ts";
import { BEGIN, COMMIT, ROLLBACK, type Session } from "./session.ts";
import { bind } from "./statement.ts";
import type { Outcome, Settled } from "./types.ts";
import { answerAgain, rejected, settledAs, type EarlierDecision } from "./verdicts.ts";
import { heldEvents, NOTHING_HELD, type HeldEvents } from "./waiting.ts";
import { together, writeOf, type LineRow, type RefRow, type WriteSet } from "./writing.ts";

/** One lane's part of a transaction: its events are read already, and `lcid` is unique among the lanes. */
export interface LanePart {
  readonly lcid: string;
  readonly events: readonly PreparedEvent[];
  readonly deadlineMs: number;
}

export type PartResult =
  | { readonly kind: "settled"; readonly settled: readonly Settled[]; readonly released: number }
  /** Another transaction holds the order's row. */
  | { readonly kind: "busy" }
  | { readonly kind: "late"; readonly error: DeadlinePassedError };

/** What the first trip found out about the orders it wants. */
interface Found {
  readonly locked: ReadonlyMap<string, StoredOrder>;
  /** Those that exist, locked or not. */
  readonly known: ReadonlySet<string>;
  readonly purged: ReadonlySet<string>;
  /** By request key. */
  readonly earlier: ReadonlyMap<string, EarlierDecision>;
  readonly lines: readonly LineRow[];
  readonly refs: readonly RefRow[];
  readonly held: ReadonlyMap<string, HeldEvents>;
}

interface Sorted {
  readonly locked: readonly LanePart[];
  readonly absent: readonly LanePart[];
}

/** The parts whose orders are locked by this transaction, and all that is known of them. */
interface Claimed extends Found {
  readonly parts: readonly LanePart[];
}

const NOTHING_YET: Bookkeeping = { held: 0, halted: false, arrivals: 0 };

/**
 * Applies the lanes' events in one transaction: two trips to the server, three where an order is new or holds early events.
 * Throws when nothing was kept; the caller decides what that means. Several lanes pass over busy orders, a single one waits.
 */
export async function applyTogether(
  session: Session,
  parts: readonly LanePart[],
  { policy, worker }: { policy: Policy; worker: string },
): Promise<ReadonlyMap<string, PartResult>> {
  const results = new Map<string, PartResult>();
  const found = await read(session, parts);
  const claimed = await claim(session, sortOut(parts, found, results), found, results);
  const written: WriteSet[] = [];
  for (const part of claimed.parts) {
    const work = workOf(part.lcid, claimed, policy);
    const settled = part.events.map((event) => work.settle(event, found.earlier.get(event.key)));
    if (performance.now() >= part.deadlineMs) {
      results.set(part.lcid, { kind: "late", error: new DeadlinePassedError(part) });
      continue;
    }
    written.push(work.writes());
    results.set(part.lcid, { kind: "settled", settled, released: work.released });
  }
  await write(session, together(written), worker);
  return results;
}

/** The first trip: lock, then read what the lock's predecessor may have just committed. */
async function read(session: Session, parts: readonly LanePart[]): Promise<Found> {
  const lcids = parts.map(({ lcid }) => lcid).toSorted();
  const placing = parts
    .filter(({ events }) => events.some(({ type }) => type === "order.placed"))
    .map(({ lcid }) => lcid);
  const wanted = parts.flatMap(({ events }) => events);
  const names = parts.flatMap(({ lcid, events }) =>
    events.flatMap(({ reading }) => (reading.kind === "known" ? namesOf(lcid, reading.event) : [])),
  );
  const [, , locked, known, seen, lines, refs, held] = await session.trip([
    BEGIN,
    placing.length > 0 ? bind(insertShells, { lcids: placing }) : null,
    bind(parts.length > 1 ? lockFreeOrders : lockOrders, { lcids }),
    bind(knownOrders, { lcids }),
    bind(inbox, {
      sources: wanted.map(({ source }) => source),
      ids: wanted.map(({ id }) => id),
      digests: wanted.map(({ key }) => key),
    }),
    bind(linesOf, { lcids }),
    bind(refsNamed, columnsOf(names)),
    bind(heldOf, { lcids }),
  ]);
  return {
    locked: new Map(locked.rows.map((row) => [row.lcid, row])),
    known: new Set(known.rows.filter(({ purged }) => !purged).map(({ lcid }) => lcid)),
    purged: new Set(known.rows.filter(({ purged }) => purged).map(({ lcid }) => lcid)),
    earlier: new Map(seen.rows.map((row) => [row.digest, earlierDecision(row)])),
    lines: lines.rows,
    refs: refs.rows,
    held: heldEvents(held.rows),
  };
}

/** Tells orders that are ours from purged ones, which answer for themselves, and busy ones, which are left to others. */
function sortOut(parts: readonly LanePart[], found: Found, results: Map<string, PartResult>): Sorted {
  const locked: LanePart[] = [];
  const absent: LanePart[] = [];
  for (const part of parts) {
    const { lcid, events } = part;
    const purged = found.purged.has(lcid);
    if (found.locked.has(lcid)) {
      if (purged) throw new PurgedMeanwhileError(part);
      locked.push(part);
    } else if (purged) {
      const settled = events.map((event) => afterPurge(event, found.earlier.get(event.key)));
      results.set(lcid, { kind: "settled", settled, released: 0 });
    } else if (found.known.has(lcid)) {
      results.set(lcid, { kind: "busy" });
    } else {
      absent.push(part);
    }
  }
  return { locked, absent };
}

/** The trip in between, where needed: rows for orders nobody heard of before, and what held events refer to. */
async function claim(
  session: Session,
  { locked, absent }: Sorted,
  found: Found,
  results: Map<string, PartResult>,
): Promise<Claimed> {
  const names = locked.flatMap(({ lcid }) =>
    (found.held.get(lcid) ?? NOTHING_HELD).known.flatMap(({ event }) => namesOf(lcid, event)),
  );
  if (absent.length === 0 && names.length === 0) return { ...found, parts: locked };
  const lcids = absent.map(({ lcid }) => lcid);
  const [created, known, refs] = await session.trip([
    absent.length > 0 ? bind(insertShells, { lcids }) : null,
    absent.length > 0 ? bind(knownOrders, { lcids }) : null,
    names.length > 0 ? bind(refsNamed, columnsOf(names)) : null,
  ]);
  const ours = new Set(created?.rows.map(({ lcid }) => lcid));
  const purged = new Set(known?.rows.filter((row) => row.purged).map(({ lcid }) => lcid));
  for (const part of absent) {
    if (purged.has(part.lcid)) throw new PurgedMeanwhileError(part);
    if (!ours.has(part.lcid)) results.set(part.lcid, { kind: "busy" });
  }
  return {
    ...found,
    refs: refs === null ? found.refs : [...found.refs, ...refs.rows],
    parts: [...locked, ...absent.filter(({ lcid }) => ours.has(lcid))],
  };
}

async function write(session: Session, set: WriteSet, worker: string): Promise<void> {
  if (set.orders.length === 0) {
    await session.trip([ROLLBACK]);
    return;
  }
  const [, commit] = await session.trip([writeOf(set, { worker }), COMMIT]);
  // A COMMIT of an aborted transaction succeeds, and rolls back.
  if (commit.command !== "COMMIT") {
    throw new NotCommittedError(`the server answered COMMIT with ${commit.command}`);
  }
}

function workOf(lcid: string, found: Claimed, policy: Policy): OrderWork {
  const order = found.locked.get(lcid);
  if (order === undefined) {
    return new OrderWork({
      lcid,
      state: emptyOrder(lcid),
      bookkeeping: NOTHING_YET,
      held: NOTHING_HELD,
      policy,
    });
  }
  const state = stateOf(
    order,
    found.lines.filter((line) => line.lcid === lcid),
    found.refs.filter((ref) => ref.lcid === lcid),
  );
  return new OrderWork({
    lcid,
    state,
    bookkeeping: order,
    held: found.held.get(lcid) ?? NOTHING_HELD,
    policy,
  });
}

function afterPurge(event: PreparedEvent, earlier: EarlierDecision | undefined): Settled {
  const answer = earlier === undefined ? rejected(event.type, "ORDER_PURGED") : answerAgain(event, earlier);
  return settledAs(event, answer, earlier !== undefined);
}

function earlierDecision(row: {
  body_digest: string;
  outcome: string;
  reason: string | null;
  version: number | null;
  event: unknown;
}): EarlierDecision {
  return {
    bodyDigest: row.body_digest,
    outcome: row.outcome as Outcome,
    reason: row.reason,
    version: row.version,
    event: row.event as EventEnvelope | null,
  };
}
