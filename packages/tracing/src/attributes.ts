import { queueNameOf } from "@junban/event-queues";
import { familyOf, type EventEnvelope } from "@junban/orders";
import type { Attributes } from "@opentelemetry/api";

/**
 * Names of attributes: OpenTelemetry's for messaging, CloudEvents, databases and errors, and our own under `junban.`. Identifiers
 * are among them, an lcid too: a span is looked up by it, and unlike a metric's label it opens no series. Nothing of `data` is.
 */
export function messageAttributes(options: {
  readonly queue: string;
  /** What is done with the message, in our words and in OpenTelemetry's. */
  readonly operation: string;
  readonly type: "send" | "process";
}): Attributes {
  const { queue, operation, type } = options;
  return {
    "messaging.system": "bullmq",
    "messaging.destination.name": queue,
    "messaging.operation.name": operation,
    "messaging.operation.type": type,
  };
}

export function eventAttributes({ id, source, type, lcid }: EventEnvelope): Attributes {
  return {
    "messaging.message.id": id,
    "cloudevents.event_id": id,
    "cloudevents.event_source": source,
    "cloudevents.event_type": type,
    "junban.lcid": lcid,
  };
}

/** The queue that an event's job is in. */
export function queueOf({ type }: EventEnvelope): string {
  return queueNameOf(familyOf(type));
}

/** A reason without what stands behind its colon, which may be a reference out of the payload. */
export function reasonWord(reason: string | null): string | undefined {
  return reason?.split(":", 1)[0];
}
