import { MAX_EVENT_BYTES } from "./envelope.ts";
import type { EventEnvelope, RuleBroken } from "./envelope.ts";
import type { OrderEvent } from "./event.ts";
import { isKnownType, PAYLOADS } from "./payloads.ts";
import { isOwnVerdict, readStructure, SIZE_RULE } from "./structure.ts";

export type Interpretation =
  | { readonly kind: "known"; readonly event: OrderEvent }
  | { readonly kind: "unsupported"; readonly why: "type" | "schemaversion" }
  | ({ readonly kind: "invalid" } & RuleBroken);

/** The newest version of the payloads that this build knows. */
const SCHEMA_VERSION = 1;

/**
 * Says what a usable envelope means to this build: an event with exactly its known fields, something a newer build will
 * know, or data that breaks a rule. Structure is judged before meaning, so an event of an unknown type is invalid all the
 * same when nobody could store it.
 */
export function interpret(envelope: EventEnvelope): Interpretation {
  if (envelope["invalidpayload"] !== undefined) return readVerdict(envelope["invalidpayload"]);
  const broken = structureBroken(envelope) ?? attributeBroken(envelope);
  if (broken !== null) return { kind: "invalid", ...broken };
  const { type, lcid } = envelope;
  if (!isKnownType(type)) return { kind: "unsupported", why: "type" };
  if ((envelope.schemaversion ?? SCHEMA_VERSION) > SCHEMA_VERSION) {
    return { kind: "unsupported", why: "schemaversion" };
  }
  const reading = PAYLOADS[type].safeParse(envelope.data);
  if (reading.success) return { kind: "known", event: { type, lcid, data: reading.data } as OrderEvent };
  const issue = reading.error.issues[0];
  return { kind: "invalid", field: fieldOf(issue?.path ?? []), rule: issue?.message ?? "valid data" };
}

function structureBroken(envelope: EventEnvelope): RuleBroken | null {
  const structure = readStructure(envelope, "valid");
  if (structure.kind === "faulty") return { field: structure.fault.field, rule: structure.fault.rule };
  // Only an event that might be too large is worth measuring.
  if (structure.mostBytes <= MAX_EVENT_BYTES) return null;
  const isTooLarge = Buffer.byteLength(JSON.stringify(envelope)) > MAX_EVENT_BYTES;
  return isTooLarge ? { field: "event", rule: SIZE_RULE } : null;
}

/** Null means absent, as CloudEvents has it. */
function attributeBroken(envelope: EventEnvelope): RuleBroken | null {
  const version: unknown = envelope.schemaversion ?? SCHEMA_VERSION;
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    return { field: "schemaversion", rule: "a whole number from 1" };
  }
  const time: unknown = envelope.time ?? "";
  return typeof time === "string" ? null : { field: "time", rule: "a string" };
}

/**
 * An event that could not be written down stands in its lane as its identity and this verdict. Anybody can write one into an
 * event: it makes that event invalid, and only what this package says itself is repeated.
 */
function readVerdict(verdict: unknown): Interpretation {
  const { field, rule } = Object(verdict) as { field?: unknown; rule?: unknown };
  const told = isOwnVerdict({ field, rule })
    ? { field: String(field), rule: String(rule) }
    : { field: "invalidpayload", rule: "absent" };
  return { kind: "invalid", ...told };
}

function fieldOf(path: readonly PropertyKey[]): string {
  let field = "data";
  for (const step of path) field += typeof step === "number" ? `[${step}]` : `.${String(step)}`;
  return field;
}
