import { type ActualOrder, type ActualOutcome, identityOf } from "@junban/order-stories";
import {
  type EventEnvelope,
  type HeldEvent,
  type Line,
  type OrderEvent,
  OrderState,
  type OrderTotals,
  type OrderView,
  type Ref,
  type RefName,
  decide,
  derive,
  emptyOrder,
  fold,
  interpret,
  redecide,
  referencesOf,
  sameBody,
} from "@junban/orders";

/**
 * The domain as a store would drive it, without a database: rows are loaded for each batch, only the references that the
 * domain asked for can be seen, and only what it says has changed is written back.
 */
export class OrdersSubject {
  readonly #batchSize: number;
  readonly #firsts = new Map<string, { event: EventEnvelope; desk: Desk }>();
  readonly #desks = new Map<string, Desk>();

  constructor({ batchSize }: { batchSize: number }) {
    this.#batchSize = batchSize;
  }

  takeAll(events: readonly EventEnvelope[]): void {
    for (const event of events) this.#take(event);
    for (const desk of this.#desks.values()) desk.commit();
  }

  orders(): readonly ActualOrder[] {
    return [...this.#desks.values()].map((desk) => desk.report());
  }

  outcomes(): readonly ActualOutcome[] {
    return [...this.#desks.values()].flatMap((desk) => [...desk.outcomes.values()]);
  }

  /** By lcid, the identities under which another body came, once for each time. */
  conflicts(): ReadonlyMap<string, readonly string[]> {
    return new Map([...this.#desks].map(([lcid, desk]) => [lcid, desk.conflicts]));
  }

  /** The orders made again from what was applied to them. */
  refolded(): readonly ActualOrder[] {
    return [...this.#desks.values()].map((desk) => desk.refold());
  }

  #take(event: EventEnvelope): void {
    const identity = identityOf(event);
    const first = this.#firsts.get(identity);
    if (first !== undefined) {
      if (!sameBody(first.event, event)) first.desk.conflicts.push(identity);
      return;
    }
    let desk = this.#desks.get(event.lcid);
    if (desk === undefined) {
      desk = new Desk(event.lcid, this.#batchSize);
      this.#desks.set(event.lcid, desk);
    }
    this.#firsts.set(identity, { event, desk });
    desk.take(event);
  }
}

const MOST_HELD = 100;

function keyOf({ kind, ref }: RefName): string {
  return `${kind} ${ref}`;
}

/** One order: its rows, its held events and what was answered. */
class Desk {
  readonly outcomes = new Map<string, ActualOutcome>();
  readonly conflicts: string[] = [];
  readonly #lcid: string;
  readonly #batchSize: number;
  readonly #lines = new Map<string, Line>();
  readonly #refs = new Map<string, Ref>();
  readonly #arrived: { event: EventEnvelope; known: OrderEvent }[] = [];
  readonly #applied: OrderEvent[] = [];
  #totals: OrderTotals;
  #state: OrderState;
  #taken = 0;
  #held: readonly HeldEvent[] = [];

  constructor(lcid: string, batchSize: number) {
    this.#lcid = lcid;
    this.#batchSize = batchSize;
    this.#state = emptyOrder(lcid);
    this.#totals = this.#state.totals;
  }

  take(event: EventEnvelope): void {
    if (this.#taken % this.#batchSize === 0) this.commit();
    this.#taken += 1;
    const interpretation = interpret(event);
    switch (interpretation.kind) {
      case "invalid":
        this.#answer(event, "rejected", { reason: "INVALID_PAYLOAD" });
        return;
      case "unsupported":
        this.#answer(event, "deferred", { reason: "UNSUPPORTED" });
        return;
      case "known":
        this.#decide(event, interpretation.event);
    }
  }

  /** Writes what the state says has changed, and loads the order again. */
  commit(): void {
    for (const line of this.#state.changedLines()) this.#lines.set(line.lineId, line);
    for (const ref of this.#state.newRefs()) {
      if (this.#refs.has(keyOf(ref))) throw new Error(`${keyOf(ref)} is called new but was there`);
      this.#refs.set(keyOf(ref), ref);
    }
    for (const ref of this.#state.changedRefs()) {
      if (!this.#refs.has(keyOf(ref))) throw new Error(`${keyOf(ref)} is called changed but was not there`);
      this.#refs.set(keyOf(ref), ref);
    }
    this.#totals = this.#state.totals;
    this.#state = new OrderState({
      totals: this.#totals,
      lines: [...this.#lines.values()],
      refs: [...this.#refs.values()],
    });
  }

  report(): ActualOrder {
    return reportOf(this.#state, { held: this.#held.length });
  }

  refold(): ActualOrder {
    return reportOf(fold(this.#lcid, this.#applied), { held: this.#held.length });
  }

  #decide(event: EventEnvelope, known: OrderEvent): void {
    const decision = decide(asLoaded(this.#state, known), known);
    switch (decision.kind) {
      case "applied":
        this.#state.apply(decision.change);
        this.#applied.push(known);
        this.#answer(event, "applied", { version: this.#state.totals.version });
        this.#retryHeld();
        return;
      case "duplicate":
        this.#answer(event, "duplicate", {});
        return;
      case "rejected":
        this.#answer(event, "rejected", decision);
        return;
      case "deferred":
        this.#hold(event, { known, reason: decision.reason });
    }
  }

  #hold(event: EventEnvelope, { known, reason }: { known: OrderEvent; reason: string }): void {
    if (this.#held.length >= MOST_HELD) {
      this.#answer(event, "rejected", { reason: "HELD_LIMIT" });
      return;
    }
    this.#held = [...this.#held, { arrival: this.#arrived.length, event: known }];
    this.#arrived.push({ event, known });
    this.#answer(event, "deferred", { reason });
  }

  #retryHeld(): void {
    const { verdicts, stillHeld } = redecide(this.#state, this.#held, {
      stopOnFailure: true,
      decide: (view, event) => decide(asLoaded(view, event), event),
    });
    for (const verdict of verdicts) {
      const { event, known } = this.#arrival(verdict.arrival);
      if (verdict.kind === "failed") throw verdict.error;
      if (verdict.kind === "applied") this.#applied.push(known);
      const reason = verdict.kind === "rejected" ? verdict.reason : null;
      const version = verdict.kind === "applied" ? verdict.version : null;
      this.#answer(event, verdict.kind, { reason, version });
    }
    for (const { arrival, reason } of stillHeld) {
      this.#answer(this.#arrival(arrival).event, "deferred", { reason });
    }
    const waiting = new Set(stillHeld.map(({ arrival }) => arrival));
    this.#held = this.#held.filter(({ arrival }) => waiting.has(arrival));
  }

  #arrival(arrival: number): { event: EventEnvelope; known: OrderEvent } {
    const arrived = this.#arrived[arrival];
    if (arrived === undefined) throw new Error(`Nothing arrived as number ${arrival}`);
    return arrived;
  }

  #answer(
    event: EventEnvelope,
    outcome: string,
    more: { reason?: string | null; version?: number | null },
  ): void {
    const { source, id } = event;
    const { reason = null, version = null } = more;
    this.outcomes.set(identityOf(event), { source, id, outcome, reason, version });
  }
}

/** Hides every reference that a store would not have loaded for this event. */
function asLoaded(view: OrderView, event: OrderEvent): OrderView {
  const loaded = new Set<string>();
  for (const name of referencesOf(event)) {
    loaded.add(keyOf(name));
    const parent = view.ref(name)?.parent;
    if (parent) loaded.add(keyOf(parent));
  }
  return {
    totals: view.totals,
    lineCount: view.lineCount,
    line: (lineId) => view.line(lineId),
    lines: () => view.lines(),
    ref: (name) => (loaded.has(keyOf(name)) ? view.ref(name) : undefined),
  };
}

function reportOf(state: OrderState, { held }: { held: number }): ActualOrder {
  const { totals } = state;
  const derived = derive(state);
  return {
    lcid: totals.lcid,
    version: totals.version,
    status: derived.status,
    paymentStatus: derived.paymentStatus,
    fulfilmentStatus: derived.fulfilmentStatus,
    payableMinor: derived.payableMinor,
    authorizedMinor: totals.authorizedMinor,
    capturedMinor: totals.capturedMinor,
    voidedMinor: totals.voidedMinor,
    refundedMinor: totals.refundedMinor,
    refundDueMinor: derived.refundDueMinor,
    voidDueMinor: derived.voidDueMinor,
    releaseDue: derived.releaseDue,
    held,
    lines: [...state.lines()],
  };
}
