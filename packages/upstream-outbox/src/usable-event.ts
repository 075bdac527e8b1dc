import { interpret, readEnvelope, readEnvelopeText, requestOf } from "@junban/orders";
import { UnusableEventError } from "./errors.ts";

/**
 * The event as JSON text of at most 64 KiB, as its lane will hold it. Stricter than the publisher, who gives broken data a place in
 * line to be rejected there: here the producer is still in its own transaction and can do something about it. Types and schema
 * versions that this build does not know pass.
 *
 * @throws {UnusableEventError}
 */
export function usableText(event: unknown): string {
  const reading = readEnvelope(event);
  if (reading.kind === "unusable") throw new UnusableEventError(reading);
  const { body } = requestOf(reading.envelope);
  const written = readEnvelopeText(body);
  if (written.kind === "unusable") throw new UnusableEventError(written);
  const meaning = interpret(written.envelope);
  if (meaning.kind === "invalid") throw new UnusableEventError(meaning);
  return body;
}
