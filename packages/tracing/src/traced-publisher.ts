import type { Published, Publisher, PublishResult } from "@junban/event-queues";
import { MAX_EVENT_BYTES, readEnvelope } from "@junban/orders";
import { context, SpanKind, trace, type Span, type Tracer } from "@opentelemetry/api";
import { eventAttributes, messageAttributes, queueOf } from "./attributes.ts";
import { carriedForm, contextCarriedBy } from "./carried-context.ts";
import { failWith, kindOf } from "./failed-span.ts";

/** An event as it is published, and the span that ends with its answer; none for what can not be published at all. */
interface Departure {
  readonly event: unknown;
  readonly span: Span | null;
}

/** A publisher whose events each have a span. One that is in no trace yet is put into its span's, if there is room for it. */
export class TracedPublisher implements Publisher {
  readonly #publisher: Publisher;
  readonly #tracer: Tracer;

  constructor({ publisher, tracer }: { readonly publisher: Publisher; readonly tracer: Tracer }) {
    this.#publisher = publisher;
    this.#tracer = tracer;
  }

  async publish(event: unknown): Promise<Published> {
    const { event: leaving, span } = this.#depart(event);
    try {
      return await this.#publisher.publish(leaving);
    } catch (error) {
      if (span !== null) failWith(span, kindOf(error));
      throw error;
    } finally {
      span?.end();
    }
  }

  async publishAll(events: readonly unknown[]): Promise<readonly PublishResult[]> {
    const departures = events.map((event) => this.#depart(event));
    const results = await this.#publisher.publishAll(departures.map(({ event }) => event));
    for (const [index, { span }] of departures.entries()) {
      const result = results[index];
      if (span !== null && result?.kind === "refused") failWith(span, kindOf(result.error));
      span?.end();
    }
    return results;
  }

  async close(): Promise<void> {
    await this.#publisher.close();
  }

  #depart(event: unknown): Departure {
    const reading = readEnvelope(event);
    if (reading.kind === "unusable") return { event, span: null };
    const { envelope } = reading;
    const queue = queueOf(envelope);
    const attributes = {
      ...messageAttributes({ queue, operation: "publish", type: "send" }),
      ...eventAttributes(envelope),
    };
    const parent = contextCarriedBy(envelope) ?? context.active();
    const span = this.#tracer.startSpan(`publish ${queue}`, { kind: SpanKind.PRODUCER, attributes }, parent);
    return { event: trace.isSpanContextValid(span.spanContext()) ? carrying(event, span) : event, span };
  }
}

/** The event itself where it names a trace already, or names something else there, or is not plain, or would become too large. */
function carrying(event: unknown, span: Span): unknown {
  if (!isPlain(event) || "traceparent" in event) return event;
  const carried = { ...event, ...carriedForm(span) };
  try {
    // Beyond its limit the event would be rejected, and that only because it is watched.
    return Buffer.byteLength(JSON.stringify(carried)) <= MAX_EVENT_BYTES ? carried : event;
  } catch {
    // A cycle or a bigint: the publisher says what is wrong with it.
    return event;
  }
}

/** Anything else may write itself as JSON in a way of its own. */
function isPlain(event: unknown): event is Readonly<Record<string, unknown>> {
  if (typeof event !== "object" || event === null) return false;
  const prototype: unknown = Object.getPrototypeOf(event);
  return (prototype === Object.prototype || prototype === null) && !("toJSON" in event);
}
