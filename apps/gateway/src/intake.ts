import { InvalidEventError, LaneFullError } from "@junban/event-queues";
import type { Publisher, PublishError } from "@junban/event-queues";
import { readEnvelope } from "@junban/orders";
import type { EventEnvelope, RuleBroken } from "@junban/orders";
import { bodyPrintOf, KnownBodies, saysTheSame } from "./known-bodies.ts";
import type { BodyPrint } from "./known-bodies.ts";
import type { Refused } from "./refusal.ts";

interface Named {
  readonly source: string;
  readonly id: string;
  readonly lcid: string;
}

/** The event stands in Redis: it has its place in line and its job. */
export interface AcceptedEvent extends Named {
  readonly status: 202;
  /** `repeat`: this process took it before, and remembers. It was published again, which changes nothing. */
  readonly outcome: "queued" | "repeat";
  /** The event keeps its place, and will be rejected there for this. */
  readonly invalid?: RuleBroken;
}

/** The event is not acknowledged. An unusable one has no names that could be repeated. */
export interface RefusedEvent extends Refused, Partial<Named> {
  readonly status: 400 | 409 | 413 | 429 | 503;
}

export type EventResult = AcceptedEvent | RefusedEvent;

interface Candidate {
  readonly index: number;
  readonly envelope: EventEnvelope;
  readonly print: BodyPrint;
  readonly isRepeat: boolean;
}

const CONFLICT: Pick<RefusedEvent, "status" | keyof Refused> = {
  status: 409,
  code: "CONFLICT",
  // Not which of them stands: another process may have taken this one before the other.
  message: "another event is known under this source and id; whichever was queued first stands",
  field: "id",
  rule: "an id that no other event of this source has",
};

export interface IntakeOptions {
  readonly publisher: Pick<Publisher, "publishAll">;
  readonly known?: KnownBodies;
  /** Hears what became of the events of each request, and how long that took. */
  readonly heard?: (results: readonly EventResult[], seconds: number) => void;
}

/** Publishes events and says of each, in the given order, what became of it. */
export class Intake {
  readonly #publisher: Pick<Publisher, "publishAll">;
  readonly #known: KnownBodies;
  readonly #heard: NonNullable<IntakeOptions["heard"]>;

  constructor({ publisher, known = new KnownBodies(), heard = () => undefined }: IntakeOptions) {
    this.#publisher = publisher;
    this.#known = known;
    this.#heard = heard;
  }

  /**
   * Never rejects because of an event or of Redis. Two contradictory events in requests at the same moment are both published,
   * since neither is acknowledged yet; the inbox tells them apart.
   */
  async publish(events: readonly unknown[]): Promise<readonly EventResult[]> {
    const startMs = performance.now();
    const results: EventResult[] = Array.from({ length: events.length });
    const candidates = this.#sort(events, results);
    const published = await this.#publisher.publishAll(candidates.map(({ envelope }) => envelope));
    for (const [at, { index, envelope, print, isRepeat }] of candidates.entries()) {
      const result = published[at];
      if (result?.kind === "published") {
        this.#known.remember(print);
        results[index] = accepted({ envelope, print, isRepeat });
      } else if (result !== undefined) {
        results[index] = { ...refused(result.error), ...namesOf(envelope) };
      }
    }
    this.#heard(results, (performance.now() - startMs) / 1_000);
    return results;
  }

  /** Settles what need not be published, and hands out the rest. */
  #sort(events: readonly unknown[], results: EventResult[]): readonly Candidate[] {
    const here = new Map<string, BodyPrint>();
    const candidates: Candidate[] = [];
    for (const [index, event] of events.entries()) {
      const reading = readEnvelope(event);
      if (reading.kind === "unusable") {
        results[index] = unusable(reading);
        continue;
      }
      const { envelope } = reading;
      const print = bodyPrintOf(envelope);
      const before = this.#known.of(print.identity) ?? here.get(print.identity);
      if (before !== undefined && !saysTheSame(before, print)) {
        results[index] = { ...CONFLICT, ...namesOf(envelope) };
        continue;
      }
      if (before === undefined) here.set(print.identity, print);
      candidates.push({ index, envelope, print, isRepeat: before !== undefined });
    }
    return candidates;
  }
}

/**
 * One status for all: 202 when every event is in Redis, else the highest of its events. So a status of two hundred and
 * something never covers an event that is not there, and one that says “later” comes first.
 */
export function statusOf(results: readonly EventResult[]): EventResult["status"] {
  let highest: EventResult["status"] = 202;
  for (const { status } of results) if (status > highest) highest = status;
  return highest;
}

function accepted({ envelope, print, isRepeat }: Omit<Candidate, "index">): AcceptedEvent {
  const outcome = isRepeat ? "repeat" : "queued";
  return {
    status: 202,
    outcome,
    ...namesOf(envelope),
    ...(print.broken === null ? {} : { invalid: print.broken }),
  };
}

function namesOf({ source, id, lcid }: EventEnvelope): Named {
  return { source, id, lcid };
}

function unusable({ field, rule }: RuleBroken): RefusedEvent {
  return { status: 400, code: "INVALID_EVENT", message: "the event is unusable", field, rule };
}

/** An error's own message may say where Redis is and what it answered; that is for the log. */
function refused(error: PublishError): RefusedEvent {
  if (error instanceof InvalidEventError) {
    const { code, field, rule } = error;
    if (code === "INVALID_EVENT") return unusable({ field, rule });
    return { status: 413, code, message: "the event is too large", field: "event", rule };
  }
  if (error instanceof LaneFullError) {
    return { status: 429, code: error.code, message: "the line of this order is full; publish again later" };
  }
  const message = "the event could not be stored for certain; publish it again";
  return { status: 503, code: error.code, message };
}
