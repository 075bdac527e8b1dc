import type { Guard } from "./guard.ts";

/** Being watched changes nothing: not what becomes of an event, not what a process costs, not what is told of a payload. */

const SRC = "packages/tracing/src";
const PUBLISHER = "test/tracing/publisher.test.ts";
const SPANS = "test/tracing/spans.test.ts";
const TROUBLE = "test/tracing/trouble.test.ts";

export const TRACING_GUARDS: readonly Guard[] = [
  {
    promise: "an event is not made too large by its trace",
    file: `${SRC}/traced-publisher.ts`,
    guard: "return Buffer.byteLength(JSON.stringify(carried)) <= MAX_EVENT_BYTES ? carried : event;",
    without: "return JSON.stringify(carried) === undefined ? event : carried;",
    tests: [{ file: PUBLISHER, title: "with no room for a trace goes without one" }],
  },
  {
    promise: "an event keeps the trace that it came in",
    file: `${SRC}/traced-publisher.ts`,
    guard: ' || "traceparent" in event',
    without: "",
    tests: [{ file: PUBLISHER, title: "in a trace keeps it" }],
  },
  {
    promise: "an event that writes itself is not copied",
    file: `${SRC}/traced-publisher.ts`,
    guard: '(prototype === Object.prototype || prototype === null) && !("toJSON" in event)',
    without: "prototype !== undefined",
    tests: [{ file: PUBLISHER, title: "that is an instance of a class is passed on as it is" }],
  },
  {
    promise: "a receiver that hangs does not hold up the end of a process",
    file: `${SRC}/span-tracing.ts`,
    guard: "await Promise.race([this.#close().catch(() => undefined), late]);",
    without: "await this.#close().catch(() => undefined);",
    tests: [{ file: TROUBLE, title: "takes requests and never answers" }],
  },
  {
    promise: "an outage of the receiver is worth one line",
    file: `${SRC}/watched-exporter.ts`,
    guard: "if (isAway === this.#isAway) return;",
    without: "",
    tests: [{ file: TROUBLE, title: "is away costs the fleet nothing but one line" }],
  },
  {
    promise: "a reason in a span holds no reference out of a payload",
    file: `${SRC}/attributes.ts`,
    guard: 'reason?.split(":", 1)[0]',
    without: "reason ?? undefined",
    tests: [{ file: SPANS, title: "the word of a reason without its reference" }],
  },
  {
    promise: "an error in a span is told by its kind only",
    file: `${SRC}/failed-span.ts`,
    guard: "span.setStatus({ code: SpanStatusCode.ERROR });",
    without: "span.setStatus({ code: SpanStatusCode.ERROR });\n  span.recordException(new Error(kind));",
    and: [{ file: `${SRC}/failed-span.ts`, guard: ": error.name;", without: ": error.message;" }],
    tests: [{ file: SPANS, title: "a handler that fails has a span that failed" }],
  },
  {
    promise: "two clocks make no time before an event was published",
    file: `${SRC}/traced-apply.ts`,
    guard: "Math.min(publishedAtMs, nowMs)",
    without: "publishedAtMs",
    tests: [{ file: SPANS, title: "never shows an event standing for a negative time" }],
  },
  {
    promise: "a transaction is linked only with what is recorded",
    file: `${SRC}/carried-context.ts`,
    guard: " || (linked.traceFlags & TraceFlags.SAMPLED) === 0",
    without: "",
    tests: [{ file: SPANS, title: "links with none that is not recorded" }],
  },
  {
    promise: "downstream is told the trace of an event",
    file: "packages/order-store/src/order-work.ts",
    guard: "trace === null ? { source, id, type } : { source, id, type, ...trace }",
    without: "{ source, id, type }",
    tests: [{ file: "test/order-store/traces.test.ts", title: "tells downstream the trace it came in" }],
  },
  {
    promise: "what is no trace is not passed on as one",
    file: "packages/orders/src/trace-context.ts",
    guard: " || !TRACEPARENT.test(traceparent)",
    without: "",
    tests: [{ file: "test/orders/trace-context.test.ts", title: "is none when its traceparent is" }],
  },
  {
    promise: "traces are off unless somebody asked for them",
    file: "packages/service/src/trace-variables.ts",
    guard: "return isWanted && ",
    without: "return ",
    tests: [{ file: "test/service/trace-settings.test.ts", title: "are off with" }],
  },
];
