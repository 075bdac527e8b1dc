import { setTimeout as pause } from "node:timers/promises";
import { Random } from "@junban/order-stories";
import { type EventEnvelope, requestOf } from "@junban/orders";
import { chaptersOf, type FlowStep } from "./chapters.ts";

/** Whoever puts events in, in whichever way. */
export interface Door {
  /** For each event why it was not acknowledged; null when it was. */
  publishAll(events: readonly EventEnvelope[]): Promise<readonly (string | null)[]>;
}

export interface FlowOptions {
  readonly publishers: readonly Door[];
  readonly seed: number;
  /** Events a second of all publishers together, in calm weather. */
  readonly eventsPerSecond: number;
}

const CALL_EVENTS = 24;
const TRY_AGAIN_MS = 100;
const LOOK_EVERY_MS = 10;
/** In a storm each event is sent up to so many more times. */
const STORM_COPIES = 4;

interface Sending {
  readonly ordinal: number;
  readonly event: EventEnvelope;
  readonly isRepeat: boolean;
}

/** One publisher's way through the stream. */
interface Desk {
  readonly number: number;
  readonly publisher: Door;
  readonly random: Random;
  readonly steps: FlowStep[];
  /** Acknowledged events to be sent once more by this publisher. */
  readonly copies: EventEnvelope[];
}

/**
 * Events that flow until they are told to stop. Each order has one first publisher, which sends an event until it is
 * acknowledged before it goes on with that order, so the publish order of every order is defined; a repeat, whoever sends
 * it, starts after the acknowledgement of what it repeats.
 */
export class Flow {
  readonly #options: FlowOptions;
  readonly #desks: readonly Desk[];
  readonly #chapters: ReturnType<typeof chaptersOf>;
  readonly #acknowledged: Sending[] = [];
  readonly #positions = new Set<string>();
  readonly #events = new Map<string, EventEnvelope>();
  readonly #refusals = new Map<string, number>();
  readonly #stopping = new AbortController();
  #isStorm = false;
  #isAbandoned = false;
  #sent = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: FlowOptions) {
    const { publishers, seed } = options;
    this.#options = options;
    this.#chapters = chaptersOf({ seed, publishers: publishers.length });
    this.#desks = publishers.map((publisher, number) => ({
      number,
      publisher,
      random: new Random(seed, "flow", number),
      steps: [],
      copies: [],
    }));
  }

  /** How many sendings were acknowledged. */
  get published(): number {
    return this.#acknowledged.length;
  }

  /**
   * Every acknowledged sending in the order in which they were first sent, which per order is the publish order: an event may
   * stand in its lane although its acknowledgement comes late.
   */
  acknowledged(): readonly EventEnvelope[] {
    return this.#acknowledged.toSorted((one, other) => one.ordinal - other.ordinal).map(({ event }) => event);
  }

  /** The event that a request in a lane carries. */
  eventOf(requestKey: string): EventEnvelope | undefined {
    return this.#events.get(requestKey);
  }

  /** How many sendings were begun: a mark in time for `firstSince`. */
  get begun(): number {
    return this.#sent;
  }

  /** An acknowledged event that was sent for the first time after the mark; undefined while there is none. */
  firstSince(mark: number): EventEnvelope | undefined {
    return this.#acknowledged.findLast(({ ordinal, isRepeat }) => ordinal > mark && !isRepeat)?.event;
  }

  /** How many sendings were refused or left unanswered. */
  get refused(): number {
    return [...this.#refusals.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How often events were refused or left unanswered, by reason. */
  get refusals(): ReadonlyMap<string, number> {
    return this.#refusals;
  }

  /** While it storms, each acknowledged event is sent one to four times more, by any of the publishers. */
  set storm(isStorm: boolean) {
    this.#isStorm = isStorm;
  }

  start(): void {
    this.#running = Promise.all(this.#desks.map(async (desk) => this.#publish(desk)));
  }

  /** Sends events of an order outside the stream until they are acknowledged. */
  async send(events: readonly EventEnvelope[]): Promise<void> {
    const [desk] = this.#desks;
    if (desk !== undefined) await this.#sendAll(desk, events.map(asFirst), () => undefined);
  }

  /** Resolves when everything that was begun is acknowledged. Servers and publishers must be well by then. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Gives up whatever is not acknowledged. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    await this.stop();
  }

  async #publish(desk: Desk): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const call = this.#nextCall(desk);
      await this.#sendAll(
        desk,
        call.map(({ event, repeatOf }) => ({ event, isRepeat: repeatOf !== null })),
        (index) => {
          const step = call[index];
          if (step === undefined) return;
          this.#positions.add(step.position);
          if (this.#isStorm) this.#copy(step.event, desk.random);
        },
      );
      const copies = desk.copies.splice(0, STORM_COPIES * CALL_EVENTS);
      await this.#sendAll(
        desk,
        copies.map((event) => ({ event, isRepeat: true })),
        () => undefined,
      );
      const restMs = (call.length * 1_000 * this.#desks.length) / this.#options.eventsPerSecond;
      await pause(Math.max(restMs, LOOK_EVERY_MS));
    }
  }

  /** As many of the next steps as may be sent together now: a repeat waits for what it repeats. */
  #nextCall(desk: Desk): readonly FlowStep[] {
    const most = desk.random.whole(1, CALL_EVENTS);
    const call: FlowStep[] = [];
    while (call.length < most) {
      if (desk.steps.length === 0) this.#tellNextChapter();
      const [step] = desk.steps;
      if (step === undefined) break;
      if (step.after !== null && !this.#positions.has(step.after)) break;
      // What this very call sends first is not acknowledged yet.
      if (step.repeatOf !== null && call.some(({ event }) => event.lcid === step.event.lcid)) break;
      call.push(step);
      desk.steps.shift();
    }
    return call;
  }

  #tellNextChapter(): void {
    const { value } = this.#chapters.next();
    for (const [number, steps] of value.entries()) this.#desks[number]?.steps.push(...steps);
  }

  async #sendAll(
    { publisher }: Desk,
    events: readonly Omit<Sending, "ordinal">[],
    onAcknowledged: (index: number) => void,
  ): Promise<void> {
    let left = events.map((sending, index) => ({ ...sending, index, ordinal: (this.#sent += 1) }));
    for (const { event } of events) this.#events.set(requestOf(event).key, event);
    while (left.length > 0 && !this.#isAbandoned) {
      const refusals = await publisher.publishAll(left.map(({ event }) => event));
      const refused: typeof left = [];
      for (const [place, sending] of left.entries()) {
        const refusal = refusals[place] ?? null;
        if (refusal !== null) {
          refused.push(sending);
          this.#refusals.set(refusal, (this.#refusals.get(refusal) ?? 0) + 1);
          continue;
        }
        this.#acknowledged.push(sending);
        onAcknowledged(sending.index);
      }
      left = refused;
      if (left.length > 0) await pause(TRY_AGAIN_MS);
    }
  }

  #copy(event: EventEnvelope, random: Random): void {
    const copies = random.whole(0, STORM_COPIES);
    for (let copy = 0; copy < copies; copy += 1) random.pick(this.#desks).copies.push(event);
  }
}

function asFirst(event: EventEnvelope): Omit<Sending, "ordinal"> {
  return { event, isRepeat: false };
}
