import type { LaneBatch, LaneResult, Settled } from "@junban/order-store";
import { readEnvelopeText, type EventEnvelope } from "@junban/orders";
import { ROOT_CONTEXT, SpanKind, type Context, type Span, type Tracer } from "@opentelemetry/api";
import { eventAttributes, messageAttributes, queueOf, reasonWord } from "./attributes.ts";
import { contextCarriedBy, linksWith } from "./carried-context.ts";
import { failWith, kindOf, spanning } from "./failed-span.ts";
import type { Apply } from "./tracing.ts";

type StandingEvent = LaneBatch["requests"][number];

/** An event of a batch that is in a trace. */
interface Followed {
  readonly envelope: EventEnvelope;
  readonly carried: Context;
  readonly publishedAtMs: number;
}

/**
 * One transaction serves many events, so none of them can be its parent: it is linked with all, in a trace of its own. Each event's
 * own trace gets its time in the lane, by the clocks of Redis and of this process, and its application, linked with the transaction.
 */
export function tracedApply(tracer: Tracer, apply: Apply): Apply {
  return async (batches) => {
    const lanes = batches.map(({ requests }) => requests.map(followed));
    const transaction = startTransaction(tracer, lanes);
    const spans = lanes.map((events) => events.map((event) => startApplying(tracer, event, transaction)));
    return spanning(transaction, async () => {
      try {
        const results = await apply(batches);
        for (const [index, result] of results.entries()) endLane(spans[index] ?? [], result);
        return results;
      } catch (error) {
        for (const span of spans.flat()) endUnsettled(span, kindOf(error));
        throw error;
      }
    });
  };
}

function followed({ body, publishedAtMs }: StandingEvent): Followed | null {
  // Nearly as good as reading it, and most bodies need no reading.
  if (!body.includes('"traceparent"')) return null;
  const reading = readEnvelopeText(body);
  if (reading.kind === "unusable") return null;
  const { envelope } = reading;
  const carried = contextCarriedBy(envelope);
  return carried === null ? null : { envelope, carried, publishedAtMs };
}

function startTransaction(tracer: Tracer, lanes: readonly (readonly (Followed | null)[])[]): Span {
  const events = lanes.flat();
  return tracer.startSpan(
    "transaction",
    {
      kind: SpanKind.CLIENT,
      links: linksWith(events.map((event) => event?.carried ?? null)),
      attributes: {
        "db.system.name": "postgresql",
        "junban.transaction.lanes": lanes.length,
        "messaging.batch.message_count": events.length,
      },
    },
    ROOT_CONTEXT,
  );
}

function startApplying(tracer: Tracer, event: Followed | null, transaction: Span): Span | null {
  if (event === null) return null;
  const { envelope, carried, publishedAtMs } = event;
  const queue = queueOf(envelope);
  const own = eventAttributes(envelope);
  const nowMs = Date.now();
  const standing = messageAttributes({ queue, operation: "stand", type: "process" });
  // Two clocks: a little skew must not become a negative time.
  const startTime = Math.min(publishedAtMs, nowMs);
  tracer.startSpan(`stand ${queue}`, { attributes: { ...standing, ...own }, startTime }, carried).end(nowMs);
  const applying = messageAttributes({ queue, operation: "apply", type: "process" });
  return tracer.startSpan(
    `apply ${queue}`,
    { attributes: { ...applying, ...own }, links: [{ context: transaction.spanContext() }] },
    carried,
  );
}

/** What is settled is a prefix of what was given. */
function endLane(spans: readonly (Span | null)[], { settled, trouble }: LaneResult): void {
  for (const [index, span] of spans.entries()) {
    const answer = settled[index];
    if (answer === undefined) endUnsettled(span, trouble?.kind ?? "unknown");
    else if (span !== null) endSettled(span, answer);
  }
}

function endSettled(span: Span, { outcome, reason, version, repeat }: Settled): void {
  const word = reasonWord(reason);
  span.setAttributes({
    "junban.outcome": outcome,
    "junban.repeat": repeat,
    ...(word === undefined ? {} : { "junban.reason": word }),
    ...(version === null ? {} : { "junban.version": version }),
  });
  // Rejected and held events are answers; a failed one is a defect that somebody has to look at.
  if (outcome === "failed") failWith(span, word ?? outcome);
  span.end();
}

function endUnsettled(span: Span | null, kind: string): void {
  if (span === null) return;
  failWith(span, kind);
  span.end();
}
