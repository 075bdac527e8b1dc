import { setTimeout as pause } from "node:timers/promises";
import { InvalidEventError, type Publisher } from "@junban/event-queues";
import { splitStories, type PublishedEvent, type PublisherStep } from "@junban/order-stories";
import { unlessAborted } from "@junban/trial";

export interface PublicationOptions {
  readonly stream: readonly PublishedEvent[];
  readonly publishers: readonly Publisher[];
  /** Publishes the first sendings of the hot order, all at once when the traffic has come to the first of them. */
  readonly hotPublisher: Publisher;
  readonly hotLcid: string;
  readonly seed: number;
}

/** Events handed to a publisher at once. */
const CALL_EVENTS = 100;
const BURST_CALL_EVENTS = 500;
const LOOK_EVERY_MS = 5;
const TRY_AGAIN_MS = 100;
/** Longest wait while nothing of a call is accepted, because a lane is full or Redis is away. */
const PATIENCE_MS = 30_000;

/**
 * Several publishers side by side, one of them for the hot order alone. Each order has one first publisher, so its publish
 * order is defined; a repeat, whoever sends it, starts after the first sending was acknowledged.
 */
export class Publication {
  readonly #options: PublicationOptions;
  readonly #acknowledged: number[] = [];
  readonly #isAcknowledged: boolean[] = [];
  readonly #awaited = new Map<number, (() => void)[]>();
  #hotAcknowledged = 0;

  constructor(options: PublicationOptions) {
    this.#options = options;
  }

  /** Stream positions in the order in which they were acknowledged; per order this is the publish order. */
  get acknowledged(): readonly number[] {
    return this.#acknowledged;
  }

  /** First sendings of the hot order that were acknowledged. */
  get hotAcknowledged(): number {
    return this.#hotAcknowledged;
  }

  get isComplete(): boolean {
    return this.#acknowledged.length === this.#options.stream.length;
  }

  /** Publishes the whole stream. Rejects with the signal's reason, or when nothing is accepted for too long. */
  async run(signal: AbortSignal): Promise<void> {
    const { stream, publishers, hotPublisher, seed } = this.#options;
    const shares = splitStories(stream, { publishers: publishers.length, seed });
    // One publisher's trouble ends the others too: they might wait for its acknowledgements for ever.
    const trouble = new AbortController();
    const either = AbortSignal.any([signal, trouble.signal]);
    const guarded = async (work: Promise<void>): Promise<void> =>
      work.catch((error: unknown) => {
        trouble.abort(error);
        throw error;
      });
    const ordinary = shares.map((share) => share.filter((step) => !this.#isBurst(step)));
    const burst = shares.flat().filter((step) => this.#isBurst(step));
    await Promise.all([
      ...publishers.map(async (publisher, index) =>
        guarded(this.#publishShare(publisher, ordinary[index] ?? [], either)),
      ),
      guarded(this.#publishBurst(hotPublisher, burst, either)),
    ]);
  }

  #isBurst({ event, repeatOf }: PublishedEvent): boolean {
    return event.lcid === this.#options.hotLcid && repeatOf === null;
  }

  /** Nobody waits for the burst before the traffic has come to its first event, so waiting for that always ends. */
  async #publishBurst(
    publisher: Publisher,
    burst: readonly PublisherStep[],
    signal: AbortSignal,
  ): Promise<void> {
    const startAt = burst[0]?.index ?? 0;
    while (this.#acknowledged.length < startAt) {
      signal.throwIfAborted();
      await pause(LOOK_EVERY_MS);
    }
    for (let start = 0; start < burst.length; start += BURST_CALL_EVENTS) {
      await this.#send(publisher, burst.slice(start, start + BURST_CALL_EVENTS), signal);
    }
  }

  async #publishShare(
    publisher: Publisher,
    steps: readonly PublisherStep[],
    signal: AbortSignal,
  ): Promise<void> {
    let call: PublisherStep[] = [];
    for (const step of steps) {
      const isEarlyRepeat = step.repeatOf !== null && this.#isAcknowledged[step.repeatOf] !== true;
      if (call.length === CALL_EVENTS || isEarlyRepeat) {
        await this.#send(publisher, call, signal);
        call = [];
      }
      // Asked again: the call just sent may have brought it.
      if (step.repeatOf !== null) await this.#acknowledgementOf(step.repeatOf, signal);
      call.push(step);
    }
    await this.#send(publisher, call, signal);
  }

  async #send(publisher: Publisher, call: readonly PublisherStep[], signal: AbortSignal): Promise<void> {
    let left = call;
    let movedAtMs = performance.now();
    while (left.length > 0) {
      signal.throwIfAborted();
      const results = await publisher.publishAll(left.map(({ event }) => event));
      const refused: PublisherStep[] = [];
      for (const [index, step] of left.entries()) {
        const result = results[index];
        if (result?.kind === "published") this.#acknowledge(step);
        else if (result?.error instanceof InvalidEventError) throw result.error;
        else refused.push(step);
      }
      if (refused.length < left.length) movedAtMs = performance.now();
      const last = results.findLast((result) => result.kind === "refused");
      if (last !== undefined && performance.now() - movedAtMs > PATIENCE_MS) throw last.error;
      left = refused;
      if (left.length > 0) await pause(TRY_AGAIN_MS);
    }
  }

  #acknowledge(step: PublisherStep): void {
    const { index } = step;
    this.#acknowledged.push(index);
    this.#isAcknowledged[index] = true;
    if (this.#isBurst(step)) this.#hotAcknowledged += 1;
    for (const goOn of this.#awaited.get(index) ?? []) goOn();
    this.#awaited.delete(index);
  }

  async #acknowledgementOf(position: number, signal: AbortSignal): Promise<void> {
    if (this.#isAcknowledged[position] === true) return;
    const acknowledgement = new Promise<void>((resolve) => {
      this.#awaited.set(position, [...(this.#awaited.get(position) ?? []), resolve]);
    });
    await unlessAborted(acknowledgement, signal);
  }
}
