import type { EventEnvelope, OrderEvent } from "@junban/orders";
import { type OrderFigures, figuresOf } from "./figures.ts";
import { judge } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import { bodyOf, readEvent } from "./reading.ts";

/** What became of one event in the end. */
export interface ReferenceOutcome {
  readonly source: string;
  readonly id: string;
  readonly outcome: "applied" | "duplicate" | "rejected" | "deferred";
  /** Why it was rejected or is still deferred; null otherwise. */
  readonly reason: string | null;
  /** The order's version that it made; null unless it was applied. */
  readonly version: number | null;
}

export interface ReferenceOrder extends OrderFigures {
  /** By `identityOf`, in publish order of the first sending. */
  readonly outcomes: ReadonlyMap<string, ReferenceOutcome>;
  /** The identities of the applied events, in order of version. */
  readonly applied: readonly string[];
  /** Identities under which another body was sent later, once for each such sending. Their first outcome stands. */
  readonly conflicts: readonly string[];
  /** Sendings beyond the first with the same body. */
  readonly repeats: number;
}

const MOST_HELD = 100;

/** An event's identity: its source and its id within that source. */
export function identityOf({ source, id }: { source: string; id: string }): string {
  return JSON.stringify([source, id]);
}

/**
 * A second reading of the domain: what each order must look like after these events, given in publish order. Time does
 * not pass in it (nothing held runs out) and nothing breaks (no order is ever halted).
 *
 * Its cost grows with the square of an order's history: seconds at 2,000 events of one lcid.
 */
export function referenceOf(events: Iterable<EventEnvelope>): ReadonlyMap<string, ReferenceOrder> {
  const files = new Map<string, OrderFile>();
  // An identity is one event wherever it is sent, so this is asked across all orders.
  const bodies = new Map<string, { body: string; file: OrderFile }>();
  for (const event of events) {
    const identity = identityOf(event);
    const reading = readEvent(event);
    const body = bodyOf(event, reading);
    const earlier = bodies.get(identity);
    if (earlier !== undefined) {
      earlier.file.seeAgain(identity, { conflicting: earlier.body !== body });
      continue;
    }
    const file = files.get(event.lcid) ?? new OrderFile(event.lcid);
    files.set(event.lcid, file);
    bodies.set(identity, { body, file });
    if (reading.kind === "fact") file.take(event, reading.fact);
    else file.note(event, reading.kind);
  }
  return new Map([...files].map(([lcid, file]) => [lcid, file.close()]));
}

interface HeldFact {
  readonly event: EventEnvelope;
  readonly fact: OrderEvent;
}

/** One order's papers: the ledger, what waits, and what was answered to whom. */
class OrderFile {
  readonly #lcid: string;
  readonly #outcomes = new Map<string, ReferenceOutcome>();
  readonly #applied: string[] = [];
  readonly #conflicts: string[] = [];
  #ledger = new Ledger();
  /** In order of arrival. */
  #held: readonly HeldFact[] = [];
  #repeats = 0;

  constructor(lcid: string) {
    this.#lcid = lcid;
  }

  take(event: EventEnvelope, fact: OrderEvent): void {
    const settled = this.#settle(event, fact);
    if (settled === "waits") {
      if (this.#held.length < MOST_HELD) this.#held = [...this.#held, { event, fact }];
      else this.#answer(event, { outcome: "rejected", reason: "HELD_LIMIT" });
    }
    if (settled === "applied") this.#retryHeld();
  }

  note(event: EventEnvelope, kind: "invalid" | "unsupported"): void {
    if (kind === "invalid") this.#answer(event, { outcome: "rejected", reason: "INVALID_PAYLOAD" });
    else this.#answer(event, { outcome: "deferred", reason: "UNSUPPORTED" });
  }

  seeAgain(identity: string, { conflicting }: { conflicting: boolean }): void {
    if (conflicting) this.#conflicts.push(identity);
    else this.#repeats += 1;
  }

  close(): ReferenceOrder {
    return {
      ...figuresOf(this.#ledger, { lcid: this.#lcid, held: this.#held.length }),
      outcomes: this.#outcomes,
      applied: this.#applied,
      conflicts: this.#conflicts,
      repeats: this.#repeats,
    };
  }

  /** Whoever has waited longest is asked first, and after each success everybody is asked again. */
  #retryHeld(): void {
    let changed = true;
    while (changed) {
      changed = false;
      for (const entry of this.#held) {
        const settled = this.#settle(entry.event, entry.fact);
        if (settled !== "waits") this.#held = this.#held.filter((other) => other !== entry);
        if (settled !== "applied") continue;
        changed = true;
        break;
      }
    }
  }

  #settle(event: EventEnvelope, fact: OrderEvent): "applied" | "refused" | "waits" {
    const verdict = judge(this.#ledger, fact);
    if (verdict.kind === "applied") {
      this.#ledger = verdict.after;
      this.#applied.push(identityOf(event));
      this.#answer(event, { outcome: "applied", version: this.#ledger.version });
      return "applied";
    }
    const reason = verdict.kind === "duplicate" ? null : verdict.reason;
    this.#answer(event, { outcome: verdict.kind, reason });
    return verdict.kind === "deferred" ? "waits" : "refused";
  }

  #answer(event: EventEnvelope, answer: Partial<ReferenceOutcome> & Pick<ReferenceOutcome, "outcome">): void {
    const { source, id } = event;
    this.#outcomes.set(identityOf(event), { source, id, reason: null, version: null, ...answer });
  }
}
