import { UPDATES_QUEUE, type OrderNews, type UpdatesPublisher } from "@junban/event-queues";
import { ROOT_CONTEXT, SpanKind, type Context, type Tracer } from "@opentelemetry/api";
import { messageAttributes } from "./attributes.ts";
import { contextCarriedBy, linksWith } from "./carried-context.ts";
import { failWith, kindOf, spanning } from "./failed-span.ts";
import { toldEvent } from "./told-event.ts";

const PASSING_ON = messageAttributes({ queue: UPDATES_QUEUE, operation: "publish", type: "send" });

/** The relay's way to the queue of updates, with a span for each batch and one in the trace of each event that it tells of. */
export class TracedUpdates implements UpdatesPublisher {
  readonly #updates: UpdatesPublisher;
  readonly #tracer: Tracer;

  constructor({ updates, tracer }: { readonly updates: UpdatesPublisher; readonly tracer: Tracer }) {
    this.#updates = updates;
    this.#tracer = tracer;
  }

  async depth(): Promise<number> {
    return this.#updates.depth();
  }

  async add(news: readonly OrderNews[]): Promise<void> {
    const told = news.map((one) => ({ one, carried: contextCarriedBy(toldEvent(one.payload)) }));
    const batch = this.#tracer.startSpan(
      "pass on",
      {
        kind: SpanKind.CLIENT,
        links: linksWith(told.map(({ carried }) => carried)),
        attributes: { ...PASSING_ON, "messaging.batch.message_count": news.length },
      },
      ROOT_CONTEXT,
    );
    const spans = told.flatMap(({ one, carried }) => (carried === null ? [] : [this.#start(one, carried)]));
    await spanning(batch, async () => {
      try {
        await this.#updates.add(news);
      } catch (error) {
        for (const span of spans) failWith(span, kindOf(error));
        throw error;
      } finally {
        for (const span of spans) span.end();
      }
    });
  }

  async close(): Promise<void> {
    await this.#updates.close();
  }

  #start({ lcid, version }: OrderNews, carried: Context): ReturnType<Tracer["startSpan"]> {
    const attributes = { ...PASSING_ON, "junban.lcid": lcid, "junban.version": version };
    return this.#tracer.startSpan(
      `publish ${UPDATES_QUEUE}`,
      { kind: SpanKind.PRODUCER, attributes },
      carried,
    );
  }
}
