import {
  derive,
  isPaymentHold,
  redecide,
  type decide,
  type Decision,
  type DeferReason,
  type Derived,
  type HeldVerdict,
  type OrderEvent,
  type OrderState,
  type TraceContext,
} from "@junban/orders";
import { describe } from "./errors.ts";
import type { PreparedEvent } from "./prepared.ts";
import { lineRow, orderRow, refRow, type Bookkeeping } from "./rows.ts";
import type { Settled } from "./types.ts";
import {
  answerAgain,
  applied,
  deferred,
  dropped,
  duplicate,
  failed,
  rejected,
  settledAs,
  type Answer,
  type EarlierDecision,
  type Verdict,
} from "./verdicts.ts";
import type { HeldEvents } from "./waiting.ts";
import type { DecidedEvent, NewEvent, OutboxRow, WriteSet } from "./writing.ts";

/** How long events wait, what a failure does to its order, and the decision itself. */
export interface Policy {
  readonly holdPaymentMs: number;
  readonly holdMs: number;
  readonly poison: "halt" | "skip";
  readonly decide: typeof decide;
}

/** Where an event on record stands: it waits, stands failed, or was rejected and is asked again. */
export interface WaitingPlace {
  readonly arrival: number;
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly outcome: "deferred" | "failed" | "rejected";
  readonly reason: string | null;
  readonly trace: TraceContext | null;
}

/** One that may be decided now. */
export interface WaitingEvent extends WaitingPlace {
  readonly event: OrderEvent;
}

interface DecidedHere {
  readonly event: PreparedEvent;
  readonly arrival: number;
  verdict: Verdict;
}

/** What downstream is told of an event itself: which one it was, and the trace that its creator put it into. */
type ToldEvent = Pick<PreparedEvent, "source" | "id" | "type" | "trace">;

/** Most events an order may hold; blocked and unsupported ones do not count. */
const HELD_LIMIT = 100;

/**
 * One locked order in the hands of one transaction: decides events against it one after another and collects what is to be
 * written. Nothing here touches the database, so nothing here can leave a decision half done.
 */
export class OrderWork {
  readonly lcid: string;
  readonly #state: OrderState;
  readonly #policy: Policy;
  /** Early events by arrival, which each application may bring to a decision. */
  readonly #held = new Map<number, WaitingEvent>();
  /** Early events of a newer build, for which this one cannot say what an application brings. */
  #unread: readonly WaitingPlace[];
  /** First decisions made here, by identity; a held one may be decided again before it is even written. */
  readonly #decidedHere = new Map<string, DecidedHere>();
  readonly #decidedAgain = new Map<string, DecidedEvent>();
  readonly #news: OutboxRow[] = [];
  #heldRows: number;
  readonly #wasHalted: boolean;
  #halted: boolean;
  #stopped = false;
  #arrivals: number;
  #released = 0;

  constructor(options: {
    lcid: string;
    state: OrderState;
    bookkeeping: Bookkeeping;
    held: HeldEvents;
    policy: Policy;
  }) {
    this.lcid = options.lcid;
    this.#state = options.state;
    this.#policy = options.policy;
    this.#heldRows = options.bookkeeping.held;
    this.#wasHalted = options.bookkeeping.halted;
    this.#halted = this.#wasHalted;
    this.#arrivals = options.bookkeeping.arrivals;
    this.#unread = options.held.unread;
    for (const waiting of options.held.known) this.#held.set(waiting.arrival, waiting);
  }

  get halted(): boolean {
    return this.#halted;
  }

  /** True once an event has failed here, itself or in the wake of another, behind which the order must stand. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Held events that were decided here in the wake of others. */
  get released(): number {
    return this.#released;
  }

  /** Decides an event that came from the line; `earlier` is what the inbox holds under its identity. */
  settle(event: PreparedEvent, earlier: EarlierDecision | undefined): Settled {
    const identity = identityOf(event);
    const here = this.#decidedHere.get(identity);
    if (here !== undefined) {
      const again = { ...here.verdict, bodyDigest: here.event.key, event: here.event.envelope };
      return settledAs(event, answerAgain(event, again), true);
    }
    if (earlier !== undefined) return settledAs(event, answerAgain(event, earlier), true);
    this.#arrivals += 1;
    const arrival = this.#arrivals;
    const verdict = this.#firstVerdict(event, arrival);
    if (verdict.outcome === "deferred") this.#heldRows += 1;
    this.#decidedHere.set(identity, { event, arrival, verdict });
    if (verdict.outcome === "applied") this.#announce(event, verdict, derive(this.#state));
    return settledAs(event, verdict, false);
  }

  /** Decides an event on record again, in its place. */
  decideAgain(waiting: WaitingEvent): Answer {
    const verdict = this.#attempt(waiting.event, (reason) => this.#hold(waiting, reason));
    this.#record(waiting, verdict);
    if (verdict.outcome === "applied") this.#announce(waiting, verdict, derive(this.#state));
    return verdict;
  }

  /** Ends a waiting or failed event by an operator's word. */
  drop(waiting: WaitingPlace, reason: string): Answer {
    this.#held.delete(waiting.arrival);
    const verdict = dropped(reason);
    this.#record(waiting, verdict);
    return verdict;
  }

  /** Lets an event that is asked again wait for those in front of it. */
  block(waiting: WaitingEvent): Answer {
    const verdict = deferred("BLOCKED", { holdMs: null, from: "now" });
    this.#record(waiting, verdict);
    return verdict;
  }

  /** Leaves an event to a build that knows its type, without a deadline. */
  setAside(waiting: WaitingPlace): void {
    this.#record(waiting, deferred("UNSUPPORTED", { holdMs: null, from: "now" }));
  }

  /** Says whether the order's next events must wait behind a failed one. */
  halt(halted: boolean): void {
    this.#halted = halted;
  }

  /** All that is to be written for this order. */
  writes(): WriteSet {
    const { lcid } = this;
    const bookkeeping = { held: this.#heldRows, halted: this.#halted, arrivals: this.#arrivals };
    const newEvents: NewEvent[] = [];
    for (const here of this.#decidedHere.values()) newEvents.push(newEvent(lcid, here));
    return {
      newEvents,
      decidedEvents: [...this.#decidedAgain.values()],
      newRefs: this.#state.newRefs().map((ref) => refRow(lcid, ref)),
      changedRefs: this.#state.changedRefs().map((ref) => refRow(lcid, ref)),
      lines: this.#state.changedLines().map((line) => lineRow(lcid, line)),
      orders: this.#unchanged(newEvents)
        ? []
        : [orderRow(this.#state.totals, derive(this.#state), bookkeeping)],
      outbox: this.#news,
    };
  }

  #unchanged(newEvents: readonly NewEvent[]): boolean {
    return newEvents.length === 0 && this.#decidedAgain.size === 0 && this.#halted === this.#wasHalted;
  }

  #firstVerdict(event: PreparedEvent, arrival: number): Verdict {
    const { reading, ending } = event;
    if (ending !== null) return this.#fail(ending.reason, ending.detail);
    if (reading.kind === "invalid") {
      return rejected(event.type, "INVALID_PAYLOAD", `${reading.field}: ${reading.rule}`);
    }
    if (this.#halted) return deferred("BLOCKED", { holdMs: null, from: "now" });
    if (reading.kind === "unsupported") return deferred("UNSUPPORTED", { holdMs: null, from: "now" });
    const { source, id, type, trace } = event;
    const waiting: WaitingEvent = {
      arrival,
      source,
      id,
      type,
      outcome: "deferred",
      reason: null,
      trace,
      event: reading.event,
    };
    return this.#attempt(reading.event, (reason) => this.#hold(waiting, reason));
  }

  #attempt(event: OrderEvent, hold: (reason: DeferReason) => Verdict): Verdict {
    let decision: Decision;
    try {
      decision = this.#policy.decide(this.#state, event);
    } catch (error) {
      // A decision that throws is a defect, and this event is what brings it out.
      return this.#fail("DECISION_FAILED", describe(error));
    }
    switch (decision.kind) {
      case "applied":
        this.#state.apply(decision.change);
        return applied(this.#state.totals.version);
      case "duplicate":
        return duplicate(decision.of);
      case "rejected":
        return rejected(event.type, decision.reason);
      case "deferred":
        return hold(decision.reason);
    }
  }

  #fail(reason: string, detail: string): Verdict {
    if (this.#policy.poison === "halt") {
      this.#halted = true;
      this.#stopped = true;
    }
    return failed(reason, detail);
  }

  /** Lets an early event wait, within the order's limit. */
  #hold(waiting: WaitingEvent, reason: DeferReason): Verdict {
    if (this.#held.size >= HELD_LIMIT) {
      return rejected(waiting.type, "HELD_LIMIT", `it would have waited for ${reason}`);
    }
    this.#held.set(waiting.arrival, { ...waiting, outcome: "deferred", reason });
    // Whoever waited without a deadline so far (blocked, unsupported, failed) starts to have one now.
    return deferred(reason, { holdMs: this.#holdMs(reason), from: "now" });
  }

  #holdMs(reason: DeferReason): number {
    return isPaymentHold(reason) ? this.#policy.holdPaymentMs : this.#policy.holdMs;
  }

  /**
   * Puts an application into the outbox, then decides held events again until none moves. Those that only a newer build can
   * read are left to it: waiting on under a deadline, they would end although what they wait for may just have come.
   */
  #announce(event: ToldEvent, verdict: Verdict, derived: Derived): void {
    this.#news.push(newsOf(this.lcid, event, { version: verdict.version ?? 0, derived }));
    for (const place of this.#unread) this.setAside(place);
    this.#unread = [];
    if (this.#held.size === 0) return;
    const held = [...this.#held.values()].toSorted((left, right) => left.arrival - right.arrival);
    const { verdicts, stillHeld } = redecide(this.#state, held, {
      stopOnFailure: this.#policy.poison === "halt",
      decide: this.#policy.decide,
    });
    for (const outcome of verdicts) this.#release(outcome);
    for (const { arrival, reason } of stillHeld) this.#reword(arrival, reason);
  }

  #release(outcome: HeldVerdict): void {
    const waiting = this.#held.get(outcome.arrival);
    if (waiting === undefined) throw new TypeError(`no held event has arrival ${outcome.arrival}`);
    this.#held.delete(outcome.arrival);
    this.#released += 1;
    this.#record(waiting, this.#verdictOf(waiting, outcome));
    if (outcome.kind === "applied") {
      this.#news.push(newsOf(this.lcid, waiting, outcome));
    }
  }

  #verdictOf(waiting: WaitingEvent, outcome: HeldVerdict): Verdict {
    switch (outcome.kind) {
      case "applied":
        return applied(outcome.version);
      case "duplicate":
        return duplicate(outcome.of);
      case "rejected":
        return rejected(waiting.type, outcome.reason);
      case "failed":
        return this.#fail("DECISION_FAILED", describe(outcome.error));
    }
  }

  /** A held event that now waits for something else says so, and waits as long as that deserves. */
  #reword(arrival: number, reason: DeferReason): void {
    const waiting = this.#held.get(arrival);
    if (waiting === undefined || waiting.reason === reason) return;
    this.#held.set(arrival, { ...waiting, reason });
    const written = this.#decidedAgain.get(identityOf(waiting));
    const isNew = this.#decidedHere.has(identityOf(waiting)) || written?.hold_from === "now";
    // Whoever waits already has its deadline moved by the difference, so that changing reasons never prolong the wait.
    const wait = isNew
      ? { holdMs: this.#holdMs(reason), from: "now" as const }
      : {
          holdMs:
            this.#holdMs(reason) - this.#holdMs(waiting.reason as DeferReason) + (written?.hold_ms ?? 0),
          from: "deadline" as const,
        };
    this.#record(waiting, deferred(reason, wait));
  }

  /** Replaces what is known of an event: its unwritten first decision, or its row. */
  #record(waiting: WaitingPlace, verdict: Verdict): void {
    this.#heldRows += Number(verdict.outcome === "deferred") - Number(waiting.outcome === "deferred");
    const identity = identityOf(waiting);
    const here = this.#decidedHere.get(identity);
    if (here !== undefined) here.verdict = verdict;
    else this.#decidedAgain.set(identity, decidedEvent(waiting, verdict));
  }
}

function identityOf({ source, id }: { source: string; id: string }): string {
  return `${source}\0${id}`;
}

function newEvent(lcid: string, { event, arrival, verdict }: DecidedHere): NewEvent {
  return {
    source: event.source,
    event_id: event.id,
    lcid,
    type: event.type,
    event: event.body,
    raw: event.excerpt,
    outcome: verdict.outcome,
    reason: verdict.reason,
    detail: verdict.detail,
    version: verdict.version,
    arrival,
    body_digest: event.key,
    published_ms: event.publishedAtMs,
    hold_ms: verdict.holdMs,
    alert: verdict.alert,
  };
}

function decidedEvent({ source, id }: { source: string; id: string }, verdict: Verdict): DecidedEvent {
  return {
    source,
    event_id: id,
    outcome: verdict.outcome,
    reason: verdict.reason,
    detail: verdict.detail,
    version: verdict.version,
    hold_ms: verdict.holdMs,
    hold_from: verdict.holdFrom,
    alert: verdict.alert,
  };
}

/** What downstream learns of one applied event: which version of the order it made, and how the order stood then. */
function newsOf(
  lcid: string,
  { source, id, type, trace }: ToldEvent,
  { version, derived }: { version: number; derived: Derived },
): OutboxRow {
  const event = trace === null ? { source, id, type } : { source, id, type, ...trace };
  return { lcid, version, payload: { lcid, version, event, order: derived } };
}
