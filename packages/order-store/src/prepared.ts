import {
  excerptOf,
  interpret,
  readEnvelopeText,
  traceContextOf,
  type EventEnvelope,
  type Interpretation,
  type TraceContext,
} from "@junban/orders";
import type { StandingEvent } from "./types.ts";

/** Why an event is settled `failed` without being decided. */
export interface Ending {
  readonly reason: string;
  readonly detail: string;
}

/** A request read once, before any transaction: its identity, what it says, and what is to be stored of it. */
export interface PreparedEvent {
  readonly key: string;
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly publishedAtMs: number;
  readonly envelope: EventEnvelope | null;
  readonly trace: TraceContext | null;
  readonly reading: Interpretation;
  /** JSON text to store; null where it must not be stored as it is, then `excerpt` stands for it. */
  readonly body: string | null;
  readonly excerpt: string | null;
  /** Set for an event that must not be decided. */
  readonly ending: Ending | null;
}

/** Who an unreadable body is attributed to: a body without an identity still needs a row of its own, under its key. */
const UNREADABLE_SOURCE = "junban:unreadable";

export function prepare(request: StandingEvent, lcid: string): PreparedEvent {
  const { key, body, publishedAtMs } = request;
  const envelope = readEnvelopeText(body);
  if (envelope.kind === "unusable" || envelope.envelope.lcid !== lcid) {
    const broken =
      envelope.kind === "unusable"
        ? envelope
        : { field: "lcid", rule: "names another order than the lane it stands in" };
    return {
      key,
      source: UNREADABLE_SOURCE,
      id: key,
      type: "unreadable",
      publishedAtMs,
      envelope: null,
      trace: null,
      reading: { kind: "invalid", field: broken.field, rule: broken.rule },
      body: null,
      excerpt: excerptOf(body),
      ending: null,
    };
  }
  const { source, id, type } = envelope.envelope;
  const reading = interpret(envelope.envelope);
  const storable = reading.kind !== "invalid";
  return {
    key,
    source,
    id,
    type,
    publishedAtMs,
    envelope: envelope.envelope,
    trace: traceContextOf(envelope.envelope),
    reading,
    body: storable ? body : null,
    excerpt: storable ? null : excerptOf(body),
    ending: null,
  };
}

/**
 * The same event with its text written anew. A text may hold more than what is read from it, and Postgres reads all of it: of a
 * key that is repeated only the last value counts, and a number may be too small to differ from 0.
 */
export function asRead(event: PreparedEvent): PreparedEvent {
  if (event.body === null) return event;
  const body = JSON.stringify(event.envelope);
  return body === event.body ? event : { ...event, body };
}

/** The same event, to be settled `failed` without being decided; its body is left out where the database refused to keep it. */
export function failing(
  event: PreparedEvent,
  ending: Ending,
  { keepBody }: { keepBody: boolean },
): PreparedEvent {
  if (keepBody) return { ...event, ending };
  return { ...event, ending, body: null, excerpt: excerptOf(event.body ?? event.excerpt ?? "") };
}
