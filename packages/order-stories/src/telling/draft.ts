import type { EventEnvelope } from "@junban/orders";
import type { Random } from "./random.ts";

/**
 * The storyteller's own notes on one order: just enough to write the next plausible event. They are not the
 * domain: nothing here decides whether an event is accepted, and a story is free to be wrong about it.
 */

/** Why an event is in the stream. */
export type Note = "first" | "repeat" | "early" | "invalid";

/** What is wrong with an event whose note is `invalid`. */
export type Flaw =
  | "float-amount"
  | "missing-field"
  | "unknown-type"
  | "newer-schema"
  | "nul-character"
  | "unknown-currency"
  | "repeated-line"
  | "conflicting-body"
  | "conflicting-reference"
  | "over-capture"
  | "closed-authorization"
  | "over-refund"
  | "foreign-currency"
  | "over-release"
  | "cancelled-shipment"
  | "below-shipped";

/** One event of one story, before stories are interleaved. */
export interface StoryItem {
  readonly event: EventEnvelope;
  readonly note: Note;
  readonly flaw: Flaw | null;
  /** The events it builds on. Published before one of them, it is early. */
  readonly needs: readonly StoryItem[];
  readonly atMs: number;
}

export interface DraftLine {
  readonly lineId: string;
  readonly sku: string;
  readonly unitAmount: number;
  quantity: number;
  peak: number;
  cancelled: number;
  held: number;
  shipped: number;
  shaped: StoryItem;
}
export interface DraftAuthorization {
  readonly id: string;
  open: number;
  readonly item: StoryItem;
}
export interface DraftCapture {
  readonly id: string;
  readonly authorization: DraftAuthorization | null;
  readonly amount: number;
  refunded: number;
  readonly item: StoryItem;
}
export interface DraftRefund {
  readonly id: string;
  readonly capture: DraftCapture;
  readonly amount: number;
  readonly item: StoryItem;
}
export interface DraftReservation {
  readonly id: string;
  readonly line: DraftLine;
  left: number;
  readonly item: StoryItem;
}
export interface DraftShortage {
  readonly id: string;
  readonly line: DraftLine;
  readonly quantity: number;
  readonly item: StoryItem;
}
export interface DraftRequest {
  readonly id: string;
  readonly scope: "order" | "lines";
  readonly items: readonly { line: DraftLine; quantity: number }[];
  readonly item: StoryItem;
}

export interface OvertakenCapture {
  readonly id: string;
  readonly authorization: DraftAuthorization;
  readonly amount: number;
  readonly failure: StoryItem;
}
export interface ClosedRequest {
  readonly request: DraftRequest;
  readonly answer: "confirmed" | "rejected";
}

export interface Telling {
  readonly source: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
  readonly needs?: readonly StoryItem[];
  readonly flaw?: Flaw;
  readonly extra?: Record<string, unknown>;
}

export interface DraftOptions {
  readonly lcid: string;
  readonly random: Random;
  readonly startMs: number;
  /** Mean time between two events of the order. */
  readonly gapMs: number;
  /** A lasting order is never cancelled as a whole and rarely ships, so its story has no natural end. */
  readonly lasting: boolean;
}

export class OrderDraft {
  readonly lcid: string;
  readonly random: Random;
  readonly lasting: boolean;
  readonly items: StoryItem[] = [];
  readonly lines: DraftLine[] = [];
  readonly authorizations: DraftAuthorization[] = [];
  readonly captures: DraftCapture[] = [];
  readonly refunds: DraftRefund[] = [];
  readonly reservations: DraftReservation[] = [];
  readonly shortages: DraftShortage[] = [];
  readonly requests: DraftRequest[] = [];
  /** Recent authorizations that are known but no longer open, for late and stale reports. */
  readonly closedAuthorizations: DraftAuthorization[] = [];
  readonly reversedCaptures: DraftCapture[] = [];
  readonly closedRequests: ClosedRequest[] = [];
  /** A capture whose failure was told already. */
  overtaken: OvertakenCapture | null = null;
  currency = "JPY";
  shipGate: "captured" | "authorized" = "captured";
  adjustment = 0;
  cancelled = false;
  captured = 0;
  refunded = 0;
  #clockMs: number;
  readonly #gapMs: number;
  readonly #counts = new Map<string, number>();

  constructor(options: DraftOptions) {
    this.lcid = options.lcid;
    this.random = options.random;
    this.lasting = options.lasting;
    this.#clockMs = options.startMs;
    this.#gapMs = options.gapMs;
  }

  /** The next name of its kind within this order: `c-1`, `c-2` … */
  name(kind: string): string {
    return `${kind}-${this.#next(kind)}`;
  }

  /** Writes the next event. Each source numbers its own events, so two sources do use the same id. */
  tell(telling: Telling): StoryItem {
    this.#clockMs += this.random.exponential(this.#gapMs);
    const event: EventEnvelope = {
      specversion: "1.0",
      id: `evt-${this.lcid}-${this.#next(telling.source)}`,
      source: telling.source,
      type: telling.type,
      lcid: this.lcid,
      time: new Date(Math.floor(this.#clockMs)).toISOString(),
      ...telling.extra,
      data: telling.data,
    };
    const flaw = telling.flaw ?? null;
    const note = flaw === null ? "first" : "invalid";
    return this.add({ event, note, flaw, needs: telling.needs ?? [], atMs: this.#clockMs });
  }

  /** When the latest event happened. */
  get nowMs(): number {
    return this.#clockMs;
  }

  add(item: StoryItem): StoryItem {
    this.items.push(item);
    return item;
  }

  #next(name: string): number {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }

  get placement(): StoryItem {
    const [first] = this.items;
    if (first === undefined) throw new RangeError("The order was not placed yet");
    return first;
  }

  get active(): number {
    return this.lines.reduce((sum, line) => sum + activeOf(line), 0);
  }

  get shipped(): number {
    return this.lines.reduce((sum, line) => sum + line.shipped, 0);
  }

  get payable(): number {
    if (this.cancelled) return 0;
    const goods = this.lines.reduce((sum, line) => sum + activeOf(line) * line.unitAmount, 0);
    return Math.max(0, goods + this.adjustment);
  }

  get openAmount(): number {
    return this.authorizations.reduce((sum, authorization) => sum + authorization.open, 0);
  }

  /** What nobody has authorized or captured yet. */
  get missingAmount(): number {
    return Math.max(0, this.payable - this.captured - this.openAmount);
  }

  get refundDue(): number {
    return Math.max(0, this.captured - this.refunded - this.payable);
  }
}

export function activeOf(line: DraftLine): number {
  return line.quantity - line.cancelled;
}

/** Takes an entry out of a list whose order carries no meaning. */
export function strike<Entry>(entries: Entry[], entry: Entry): void {
  const index = entries.indexOf(entry);
  if (index >= 0) entries.splice(index, 1);
}

/** Keeps lists of a long story short: old entries are simply no longer talked about. */
export function remember<Entry>(entries: Entry[], entry: Entry, most = 12): void {
  entries.push(entry);
  if (entries.length > most) entries.shift();
}
