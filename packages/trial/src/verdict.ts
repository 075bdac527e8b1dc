import {
  compareOrder,
  compareOutcomes,
  identityOf,
  type ActualOrder,
  type ActualOutcome,
  type ReferenceOrder,
} from "@junban/order-stories";

/** One acknowledged sending, in publish order. */
export interface Sending {
  readonly lcid: string;
  readonly source: string;
  readonly id: string;
}

/** One row of `order_events`. */
export interface DecidedEvent extends ActualOutcome {
  readonly lcid: string;
  /** Place among all first decisions. */
  readonly seq: number;
}

export interface Evidence {
  /** Every acknowledged sending, repeats included, in publish order per order. */
  readonly sendings: readonly Sending[];
  readonly events: readonly DecidedEvent[];
  readonly orders: readonly ActualOrder[];
  /** By lcid: in what an order's rows differ from its own history. */
  readonly audit: ReadonlyMap<string, readonly string[]>;
  /** What must have come of the sendings, by lcid. */
  readonly reference: ReadonlyMap<string, ReferenceOrder>;
}

export interface Verdict {
  /** Acknowledged sendings: the sum of the five below, unless something was lost. */
  readonly published: number;
  readonly applied: number;
  /** Sent again, or the same fact under another id. */
  readonly duplicates: number;
  readonly rejected: number;
  readonly deferred: number;
  readonly failed: number;
  /** Acknowledged, but without a row. */
  readonly lost: number;
  /** Orders of which more was applied than was published: a higher version, a larger amount, a larger quantity. */
  readonly doubled: number;
  /** Events that were decided before one of the same order that was published earlier. */
  readonly inversions: number;
  /** Orders whose rows differ from their own history, or from the reference. */
  readonly drift: number;
  /** Of the duplicates: sendings under an id that had been sent before. */
  readonly sentAgain: number;
  readonly rejectedBy: ReadonlyMap<string, number>;
  readonly deferredBy: ReadonlyMap<string, number>;
  readonly ordersChecked: number;
  /** One sentence for each thing that is wrong. */
  readonly wrong: readonly string[];
}

/** Judges a run by what was acknowledged and what is stored. Pure: everything it goes by is in the evidence. */
export function verdictOf(evidence: Evidence): Verdict {
  const { sendings, events } = evidence;
  const firsts = new Map<string, Sending>();
  for (const sending of sendings) {
    const identity = identityOf(sending);
    if (!firsts.has(identity)) firsts.set(identity, sending);
  }
  const rows = new Map(events.map((event) => [identityOf(event), event]));
  const lost = [...firsts].filter(([identity]) => !rows.has(identity)).map(([, sending]) => sending);
  const overtaken = inversionsOf([...firsts.keys()].flatMap((identity) => rows.get(identity) ?? []));
  const drifting = driftOf(evidence);
  const doubled = evidence.orders.filter((order) => exceeds(order, evidence.reference.get(order.lcid)));
  const count = (outcome: string): number => events.filter((event) => event.outcome === outcome).length;
  const sentAgain = sendings.length - firsts.size;
  return {
    published: sendings.length,
    applied: count("applied"),
    duplicates: count("duplicate") + sentAgain,
    rejected: count("rejected"),
    deferred: count("deferred"),
    failed: count("failed"),
    lost: lost.length,
    doubled: doubled.length,
    inversions: overtaken.length,
    drift: drifting.size,
    sentAgain,
    rejectedBy: countReasons(events, "rejected"),
    deferredBy: countReasons(events, "deferred"),
    ordersChecked: evidence.orders.length,
    wrong: [
      ...lost.map(({ lcid, source, id }) => `${lcid}: ${source} ${id} was acknowledged and has no row`),
      ...overtaken.map(({ lcid, source, id }) => `${lcid}: ${source} ${id} overtook an earlier event`),
      ...doubled.map(({ lcid }) => `${lcid}: more was applied than was published`),
      ...[...drifting.values()].flat(),
    ],
  };
}

/** `true` when the run kept every promise. */
export function isGood(verdict: Pick<Verdict, "lost" | "doubled" | "inversions" | "drift">): boolean {
  const { lost, doubled, inversions, drift } = verdict;
  return lost === 0 && doubled === 0 && inversions === 0 && drift === 0;
}

/** What only grows by applying an event: a value beyond the reference means that something took effect twice. */
const GROWING = ["version", "authorizedMinor", "capturedMinor", "voidedMinor", "refundedMinor"] as const;
const GROWING_OF_LINES = ["peak", "cancelled", "reserved", "released", "shipped"] as const;

function exceeds(order: ActualOrder, reference: ReferenceOrder | undefined): boolean {
  if (reference === undefined) return true;
  const expected = new Map(reference.lines.map((line) => [line.lineId, line]));
  return (
    GROWING.some((name) => order[name] > reference[name]) ||
    order.lines.some((line) =>
      GROWING_OF_LINES.some((name) => line[name] > (expected.get(line.lineId)?.[name] ?? 0)),
    )
  );
}

/** Events, given in publish order, that came after a later one of their order. */
function inversionsOf(inPublishOrder: readonly DecidedEvent[]): readonly DecidedEvent[] {
  const latest = new Map<string, number>();
  return inPublishOrder.filter(({ lcid, seq }) => {
    const before = latest.get(lcid) ?? Number.NEGATIVE_INFINITY;
    latest.set(lcid, Math.max(before, seq));
    return seq < before;
  });
}

function driftOf({ events, orders, audit, reference }: Evidence): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const note = (lcid: string, sentences: readonly string[]): void => {
    if (sentences.length > 0) found.set(lcid, [...(found.get(lcid) ?? []), ...sentences]);
  };
  for (const [lcid, differences] of audit) note(lcid, differences);
  const stored = new Map(orders.map((order) => [order.lcid, order]));
  const outcomes = byOrder(events);
  for (const [lcid, expected] of reference) {
    const order = stored.get(lcid);
    note(lcid, order === undefined ? [`${lcid}: is missing`] : compareOrder(expected, order));
    note(lcid, compareOutcomes(new Map([[lcid, expected]]), outcomes.get(lcid) ?? []));
  }
  for (const { lcid } of orders) if (!reference.has(lcid)) note(lcid, [`${lcid}: is not expected`]);
  return found;
}

function byOrder(events: readonly DecidedEvent[]): ReadonlyMap<string, readonly DecidedEvent[]> {
  const groups = new Map<string, DecidedEvent[]>();
  for (const event of events) {
    const group = groups.get(event.lcid);
    if (group === undefined) groups.set(event.lcid, [event]);
    else group.push(event);
  }
  return groups;
}

function countReasons(events: readonly DecidedEvent[], outcome: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.outcome !== outcome) continue;
    const reason = event.reason ?? "without a reason";
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return new Map([...counts].toSorted(([, left], [, right]) => right - left));
}
