import { traceContextOf, type EventEnvelope, type TraceContext } from "@junban/orders";
import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import type { Context, Link, Span } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";

/** The trace that an event, or what downstream is told of one, names in its attributes; null when it names none. */
export function contextCarriedBy(event: EventEnvelope | null): Context | null {
  const carried = traceContextOf(event);
  return carried === null
    ? null
    : new W3CTraceContextPropagator().extract(ROOT_CONTEXT, carried, defaultTextMapGetter);
}

/** A span in the form in which events carry it. */
export function carriedForm(span: Span): Partial<TraceContext> {
  const carrier: Partial<TraceContext> = {};
  new W3CTraceContextPropagator().inject(trace.setSpan(ROOT_CONTEXT, span), carrier, defaultTextMapSetter);
  return carrier;
}

/** Links with those contexts whose traces are recorded at all. */
export function linksWith(contexts: readonly (Context | null)[]): Link[] {
  return contexts.flatMap((context) => {
    const linked = context === null ? undefined : trace.getSpanContext(context);
    if (linked === undefined || (linked.traceFlags & TraceFlags.SAMPLED) === 0) return [];
    return [{ context: linked }];
  });
}
