import { setTimeout as pause } from "node:timers/promises";
import {
  InvalidEventError,
  LaneFullError,
  QueueUnavailableError,
  type Publisher,
} from "@junban/event-queues";
import { isDenied } from "@junban/operations";
import { interpret, readEnvelopeText, type EventEnvelope } from "@junban/orders";
import { errorLine } from "@junban/service";
import type { FileLine } from "./file-lines.ts";

/** What came of one line that did not simply go through. */
export interface LineNotice {
  readonly line: number;
  /** `refused`: not in the queue. `doomed`: accepted, and will be rejected in its place, because its data breaks a rule. */
  readonly kind: "refused" | "doomed";
  readonly reason: string;
}

export interface PublishReport {
  readonly lines: number;
  readonly published: number;
  readonly refused: number;
  readonly doomed: number;
  /** The last line up to which everything is either published or refused by name. */
  readonly throughLine: number;
}

export interface PublishObserver {
  notice(notice: LineNotice): void;
  progress(report: PublishReport): void;
  /** Told while something is waited for: a full lane, or Redis. */
  waiting(why: string): void;
}

export interface PublishLimits {
  /** Longest wait for a full lane that does not move, and for Redis, in milliseconds. */
  readonly patienceMs: number;
}

/** Lines handed to the publisher at once. */
const CHUNK_LINES = 1_000;
const TRY_AGAIN_MS = 250;

interface Waiting {
  readonly line: number;
  readonly event: EventEnvelope;
  /** Set for data that breaks a rule: why the event will be rejected. */
  readonly doom: string | null;
}

/**
 * Publishes the lines' events in file order per lcid. A full lane is waited for, and nothing overtakes it; a lane that stays
 * full is given up together with the rest of its lines. Rethrows QueueUnavailableError when Redis stays away: everything up
 * to `throughLine` is accounted for, and publishing the file again is harmless.
 */
export class LinePublisher {
  readonly #publisher: Publisher;
  readonly #observer: PublishObserver;
  readonly #limits: PublishLimits;
  readonly #signal: AbortSignal;
  readonly #givenUp = new Map<string, string>();
  #lines = 0;
  #published = 0;
  #refused = 0;
  #doomed = 0;
  #throughLine = 0;

  constructor(options: {
    publisher: Publisher;
    observer: PublishObserver;
    limits: PublishLimits;
    signal: AbortSignal;
  }) {
    this.#publisher = options.publisher;
    this.#observer = options.observer;
    this.#limits = options.limits;
    this.#signal = options.signal;
  }

  get report(): PublishReport {
    return {
      lines: this.#lines,
      published: this.#published,
      refused: this.#refused,
      doomed: this.#doomed,
      throughLine: this.#throughLine,
    };
  }

  async publish(lines: AsyncIterable<FileLine>): Promise<PublishReport> {
    let chunk: FileLine[] = [];
    for await (const line of lines) {
      if (this.#signal.aborted) return this.report;
      chunk.push(line);
      if (chunk.length < CHUNK_LINES) continue;
      await this.#publishChunk(chunk);
      chunk = [];
    }
    await this.#publishChunk(chunk);
    return this.report;
  }

  async #publishChunk(chunk: readonly FileLine[]): Promise<void> {
    this.#lines += chunk.length;
    let waiting = chunk.flatMap((line) => this.#read(line) ?? []);
    let movedAtMs = performance.now();
    while (waiting.length > 0 && !this.#signal.aborted) {
      const left = await this.#attempt(waiting);
      if (left.events.length === 0) break;
      if (left.events.length < waiting.length) movedAtMs = performance.now();
      const isPatient = performance.now() - movedAtMs < this.#limits.patienceMs;
      if (left.unavailable !== null && (!isPatient || isDenied(left.unavailable))) throw left.unavailable;
      if (!isPatient) this.#giveUp(left.events, left.why);
      waiting = left.events.filter(({ event }) => !this.#givenUp.has(event.lcid));
      if (waiting.length > 0) {
        this.#observer.waiting(left.why);
        await pause(TRY_AGAIN_MS);
      }
    }
    this.#throughLine = chunk.at(-1)?.number ?? this.#throughLine;
    this.#observer.progress(this.report);
  }

  async #attempt(
    waiting: readonly Waiting[],
  ): Promise<{ events: Waiting[]; why: string; unavailable: QueueUnavailableError | null }> {
    const results = await this.#publisher.publishAll(waiting.map(({ event }) => event));
    const events: Waiting[] = [];
    let why = "";
    let unavailable: QueueUnavailableError | null = null;
    for (const [index, result] of results.entries()) {
      const item = waiting[index];
      if (item === undefined) continue;
      if (result.kind === "published") {
        this.#published += 1;
        this.#tellDoom(item);
      } else if (result.error instanceof InvalidEventError) {
        this.#refuse(item.line, named(result.error));
      } else {
        events.push(item);
        why ||= waitingFor(result.error);
        if (result.error instanceof QueueUnavailableError) unavailable = result.error;
      }
    }
    return { events, why, unavailable };
  }

  /** The line's event, or null when the line is refused here. */
  #read(line: FileLine): Waiting | null {
    if (line.text === null) return this.#refuse(line.number, line.problem);
    const reading = readEnvelopeText(line.text);
    if (reading.kind === "unusable") return this.#refuse(line.number, named(reading));
    const { envelope } = reading;
    const givenUp = this.#givenUp.get(envelope.lcid);
    if (givenUp !== undefined) return this.#refuse(line.number, givenUp);
    const data = interpret(envelope);
    const doom = data.kind === "invalid" ? `INVALID_PAYLOAD ${named(data)}` : null;
    return { line: line.number, event: envelope, doom };
  }

  #tellDoom({ line, doom }: Waiting): void {
    if (doom === null) return;
    this.#doomed += 1;
    this.#observer.notice({ line, kind: "doomed", reason: doom });
  }

  #giveUp(events: readonly Waiting[], why: string): void {
    for (const { line, event } of events) {
      this.#givenUp.set(event.lcid, `an earlier line of ${event.lcid} was refused; publish again from there`);
      this.#refuse(line, why);
    }
  }

  #refuse(line: number, reason: string): null {
    this.#refused += 1;
    this.#observer.notice({ line, kind: "refused", reason });
    return null;
  }
}

function waitingFor(error: Error): string {
  return error instanceof LaneFullError ? error.message : `Redis: ${errorLine(error)}`;
}

function named({ field, rule }: { field: string; rule: string }): string {
  return field === "" ? rule : `${field}: expected ${rule}`;
}
