import { UPDATES_QUEUE } from "@junban/event-queues";
import { context, SpanKind, trace, type Tracer } from "@opentelemetry/api";
import { messageAttributes } from "./attributes.ts";
import { contextCarriedBy } from "./carried-context.ts";
import { spanning } from "./failed-span.ts";
import { toldEvent } from "./told-event.ts";
import type { UpdateHandler } from "./tracing.ts";

/** A subscriber's handler in the trace of the event that it hears of; what the handler itself has traced lies within. */
export function tracedHandler<Update extends { readonly payload: unknown }, Context>(
  tracer: Tracer,
  { name }: { readonly name: string },
  handler: UpdateHandler<Update, Context>,
): UpdateHandler<Update, Context> {
  return async (update, handlerContext) => {
    const carried = contextCarriedBy(toldEvent(update.payload));
    if (carried === null) return handler(update, handlerContext);
    const { lcid, version } = update.payload as { readonly lcid?: unknown; readonly version?: unknown };
    const attributes = {
      ...messageAttributes({ queue: UPDATES_QUEUE, operation: "process", type: "process" }),
      "messaging.consumer.group.name": name,
      ...(typeof lcid === "string" ? { "junban.lcid": lcid } : {}),
      ...(typeof version === "number" ? { "junban.version": version } : {}),
    };
    const span = tracer.startSpan(
      `process ${UPDATES_QUEUE}`,
      { kind: SpanKind.CONSUMER, attributes },
      carried,
    );
    return spanning(span, async () =>
      context.with(trace.setSpan(carried, span), async () => handler(update, handlerContext)),
    );
  };
}
