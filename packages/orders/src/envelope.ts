import { isLcid, isName, LCID_RULE } from "./text-rules.ts";

/** A CloudEvents 1.0 event in JSON whose identity is usable. Nothing is promised about `data` or the optional attributes. */
export interface EventEnvelope {
  specversion: "1.0";
  id: string;
  source: string;
  type: string;
  lcid: string;
  time?: string;
  schemaversion?: number;
  data?: unknown;
  [extension: string]: unknown;
}

/** Which rule an event breaks: a path such as `data.items[0].quantity`, and what is allowed there. Never echoes a value. */
export interface RuleBroken {
  readonly field: string;
  readonly rule: string;
}

export type EnvelopeReading =
  | { readonly kind: "usable"; readonly envelope: EventEnvelope }
  | ({ readonly kind: "unusable" } & RuleBroken);

/** The largest event, in bytes of UTF-8 JSON. */
export const MAX_EVENT_BYTES = 65_536;

const MAX_NAME_CHARACTERS = 256;
const NAME_RULE = "a string of 1 to 256 characters without control characters or lone surrogates";

/**
 * Tells whether an event can be given a place at all: it is CloudEvents 1.0 and its id, source, type and lcid are usable.
 * Says nothing about `data`: an event with broken data keeps its place and is rejected there. The envelope is the input
 * itself, unchanged. Never throws.
 */
export function readEnvelope(input: unknown): EnvelopeReading {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return { kind: "unusable", field: "event", rule: "a JSON object" };
  }
  try {
    const broken = ruleBrokenBy(input as Record<string, unknown>);
    if (broken !== null) return { kind: "unusable", ...broken };
  } catch {
    // Only an object that never was JSON can get here: one of its getters threw.
    return { kind: "unusable", field: "event", rule: "an object whose attributes can be read" };
  }
  return { kind: "usable", envelope: input as EventEnvelope };
}

/** The same from JSON text. When a key is repeated inside one object, the last one counts. */
export function readEnvelopeText(text: string): EnvelopeReading {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    return { kind: "unusable", field: "event", rule: "well-formed JSON" };
  }
  return readEnvelope(input);
}

function ruleBrokenBy(input: Record<string, unknown>): RuleBroken | null {
  if (input["specversion"] !== "1.0") return { field: "specversion", rule: 'the string "1.0"' };
  if (!isName(input["id"], MAX_NAME_CHARACTERS)) return { field: "id", rule: NAME_RULE };
  if (!isName(input["source"], MAX_NAME_CHARACTERS)) return { field: "source", rule: NAME_RULE };
  if (!isName(input["type"], MAX_NAME_CHARACTERS)) return { field: "type", rule: NAME_RULE };
  if (!isLcid(input["lcid"])) return { field: "lcid", rule: LCID_RULE };
  return null;
}
