import { decide, derive, emptyOrder, redecide } from "@junban/orders";
import type {
  Decision,
  Derived,
  HeldEvent,
  OrderChange,
  OrderEvent,
  OrderState,
  OrderView,
} from "@junban/orders";
import { LCID } from "./events.ts";

/** Looks on while an event is applied, before the order changes. */
export type Onlooker = (view: OrderView, event: OrderEvent, change: OrderChange) => void;

interface Entry {
  readonly event: OrderEvent;
  /** `applied`, `duplicate`, `rejected REASON`, `deferred REASON`, and in the end never two for one id. */
  outcome: string;
}

/**
 * One order with what surrounds it in production, in memory and in a few lines: an inbox that answers repeats, held events that
 * are decided again after each change, and a history with one outbox row for each applied event.
 */
export class Desk {
  readonly state: OrderState = emptyOrder(LCID);
  readonly history: OrderEvent[] = [];
  readonly outboxVersions: number[] = [];
  readonly #inbox = new Map<string, Entry>();
  readonly #arrivals: Entry[] = [];
  readonly #onlooker: Onlooker;

  constructor(onlooker: Onlooker = () => {}) {
    this.#onlooker = onlooker;
  }

  get derived(): Derived {
    return derive(this.state);
  }

  /** Publishes events under ids of their own and tells what became of the last one. */
  deliver(...events: readonly OrderEvent[]): string {
    let outcome = "";
    for (const event of events) outcome = this.deliverAs(`evt-${this.#inbox.size}`, event);
    return outcome;
  }

  deliverAs(id: string, event: OrderEvent): string {
    const first = this.#inbox.get(id);
    if (first !== undefined) {
      return JSON.stringify(first.event) === JSON.stringify(event) ? first.outcome : "conflict";
    }
    const entry: Entry = { event, outcome: "" };
    this.#inbox.set(id, entry);
    this.#arrivals.push(entry);
    const decision = this.#decide(this.state, event);
    entry.outcome = outcomeOf(decision);
    if (decision.kind === "applied") {
      this.state.apply(decision.change);
      this.#record(event, this.state.totals.version);
      this.#redecideHeld();
    }
    return entry.outcome;
  }

  outcomeOf(id: string): string | undefined {
    return this.#inbox.get(id)?.outcome;
  }

  outcomes(): string[] {
    return this.#arrivals.map((entry) => entry.outcome);
  }

  held(): HeldEvent[] {
    return this.#arrivals.flatMap(({ event, outcome }, arrival) =>
      outcome.startsWith("deferred") ? [{ arrival, event }] : [],
    );
  }

  #redecideHeld(): void {
    const decideAndShow = (view: OrderView, event: OrderEvent): Decision => this.#decide(view, event);
    const { verdicts, stillHeld } = redecide(this.state, this.held(), {
      stopOnFailure: true,
      decide: decideAndShow,
    });
    for (const verdict of verdicts) {
      const entry = this.#arrivals[verdict.arrival]!;
      if (verdict.kind === "failed") throw verdict.error;
      entry.outcome = outcomeOf(verdict);
      if (verdict.kind === "applied") this.#record(entry.event, verdict.version);
    }
    for (const { arrival, reason } of stillHeld) this.#arrivals[arrival]!.outcome = `deferred ${reason}`;
  }

  #decide(view: OrderView, event: OrderEvent): Decision {
    const decision = decide(view, event);
    if (decision.kind === "applied") this.#onlooker(view, event, decision.change);
    return decision;
  }

  #record(event: OrderEvent, version: number): void {
    this.history.push(event);
    this.outboxVersions.push(version);
  }
}

/** A decision in the words that the tests expect. */
export function outcomeOf(decision: { readonly kind: string; readonly reason?: string }): string {
  return decision.reason === undefined ? decision.kind : `${decision.kind} ${decision.reason}`;
}
