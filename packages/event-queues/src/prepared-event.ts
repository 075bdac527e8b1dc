import { MAX_EVENT_BYTES, familyOf, readEnvelope, readEnvelopeText, requestOf } from "@junban/orders";
import type { EventEnvelope, Family, OrderRequest } from "@junban/orders";
import { InvalidEventError } from "./errors.ts";

/** An event that may enter, in the forms its lane and its queue want. */
export interface PreparedEvent {
  readonly family: Family;
  readonly envelope: EventEnvelope;
  readonly request: OrderRequest;
}

/**
 * Reads an event as everybody after the publisher will see it: through its JSON text. Whatever else the caller's object
 * was, a date or a class with `toJSON`, the request key made here is the one a worker makes of the job.
 *
 * @throws {InvalidEventError}
 */
export function prepareEvent(event: unknown): PreparedEvent {
  const text = jsonOf(event);
  if (Buffer.byteLength(text) > MAX_EVENT_BYTES) {
    const rule = `an event is at most ${MAX_EVENT_BYTES} bytes of JSON`;
    throw new InvalidEventError({ code: "EVENT_TOO_LARGE", field: "", rule });
  }
  const reading = readEnvelopeText(text);
  if (reading.kind === "unusable") {
    throw new InvalidEventError({ code: "INVALID_EVENT", field: reading.field, rule: reading.rule });
  }
  const envelope = NULL_VALUE.test(text) ? withoutSilentNulls(event, reading.envelope) : reading.envelope;
  return { family: familyOf(envelope.type), envelope, request: requestOf(envelope) };
}

const NULL_VALUE = /[:[,]null/;

/**
 * JSON writes a number that is not finite (1e400 in a file) as null, and the event would say something else than its producer
 * did. Its request knows, and stands for it; any other event is unchanged.
 */
function withoutSilentNulls(event: unknown, written: EventEnvelope): EventEnvelope {
  const original = readEnvelope(event);
  if (original.kind === "unusable") return written;
  const request = readEnvelopeText(requestOf(original.envelope).body);
  return request.kind === "usable" ? request.envelope : written;
}

function jsonOf(event: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(event);
  } catch {
    // A cycle, a bigint, a getter that throws, or nesting beyond the stack.
  }
  if (text !== undefined) return text;
  throw new InvalidEventError({
    code: "INVALID_EVENT",
    field: "event",
    rule: "a value that can be written as JSON",
  });
}
