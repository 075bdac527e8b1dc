import type { EventEnvelope } from "./envelope.ts";

/** Where an event stands in a trace: the attributes of the CloudEvents extension "Distributed Tracing", which are W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The form of version 00, which later versions may only append to; an id of zeros names nothing. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** Printable ASCII; nobody has to carry more than 512 characters of it. */
const TRACESTATE = /^[ -~]{1,512}$/;

/**
 * The trace that an event's creator put it into; null when it names none that could be followed. The key of a request does not
 * cover it: the same event with another context is the same event.
 */
export function traceContextOf(envelope: EventEnvelope | null): TraceContext | null {
  const traceparent = envelope?.["traceparent"];
  if (typeof traceparent !== "string" || !TRACEPARENT.test(traceparent)) return null;
  const tracestate = envelope?.["tracestate"];
  if (typeof tracestate !== "string" || !TRACESTATE.test(tracestate)) return { traceparent };
  return { traceparent, tracestate };
}
