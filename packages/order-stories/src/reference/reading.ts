import type { EventEnvelope, OrderEvent, OrderEventType } from "@junban/orders";

/**
 * Reads what an envelope says, by hand and without a schema library: the domain's own reader is built on one, and a
 * second reading is worth something only if it is made differently.
 */
export type Reading = { kind: "fact"; fact: OrderEvent } | { kind: "invalid" } | { kind: "unsupported" };

/** The newest `schemaversion` whose rules are written below. */
const KNOWN_SCHEMA = 1;
const MOST_BYTES = 65_536;
const DEEPEST = 32;

/** One field: whether a value is allowed, and which part of it is known. */
interface Field {
  allows(value: unknown): boolean;
  known(value: unknown): unknown;
}
type Shape = Readonly<Record<string, Field>>;

function plain(allows: (value: unknown) => boolean): Field {
  return { allows, known: (value) => value };
}
function wholeNumber(least: number, most: number): Field {
  return plain((value) => isWhole(value) && value >= least && value <= most);
}
function oneOf(...words: readonly string[]): Field {
  return plain((value) => typeof value === "string" && words.includes(value));
}
function text(most: number): Field {
  return plain((value) => typeof value === "string" && value.length >= 1 && value.length <= most);
}
function optional(field: Field, absent: unknown): Field {
  return {
    allows: (value) => isUnset(value) || field.allows(value),
    known: (value) => (isUnset(value) ? absent : field.known(value)),
  };
}
/** CloudEvents' JSON format has producers write null for what they leave unset. */
function isUnset(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
function rows(shape: Shape, { least = 1 } = {}): Field {
  return {
    allows: (value) =>
      Array.isArray(value) &&
      value.length >= least &&
      value.length <= 200 &&
      value.every((row) => fits(shape, row)) &&
      distinctLines(value),
    known: (value) => (value as unknown[]).map((row) => knownPart(shape, row)),
  };
}

const name = plain((value) => typeof value === "string" && /^[0-9A-Za-z._:@/+=~-]{1,64}$/.test(value));
const money = wholeNumber(1, 1e12);
const quantity = wholeNumber(1, 9_999);
const knownCurrencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));
const currency = plain((value) => typeof value === "string" && knownCurrencies.has(value));
const wording = text(MOST_BYTES);
const newLine: Shape = { lineId: name, sku: text(64), quantity, unitAmount: wholeNumber(0, 1e9) };
const lineQuantity: Shape = { lineId: name, quantity };

const shapes: Readonly<Record<OrderEventType, Shape>> = {
  "order.placed": {
    currency,
    adjustment: wholeNumber(-1e12, 1e12),
    shipGate: oneOf("captured", "authorized"),
    lines: rows(newLine),
  },
  "line.added": newLine,
  "line.quantity_changed": {
    changeId: name,
    lineId: name,
    fromQuantity: wholeNumber(0, 9_999),
    toQuantity: quantity,
  },
  "line.removed": { changeId: name, lineId: name, fromQuantity: wholeNumber(0, 9_999) },
  "payment.authorized": { authorizationId: name, amount: money, currency },
  "payment.captured": {
    captureId: name,
    authorizationId: plain((value) => value === null || name.allows(value)),
    amount: money,
    currency,
  },
  "payment.voided": {
    voidId: name,
    authorizationId: name,
    amount: money,
    reason: oneOf("voided", "expired"),
  },
  "payment.refunded": { refundId: name, captureId: name, amount: money, currency },
  "payment.failed": { stage: oneOf("authorization", "capture", "refund"), ref: name, code: wording },
  "inventory.reserved": { reservationId: name, lineId: name, quantity, shortageId: optional(name, null) },
  "inventory.short": { shortageId: name, lineId: name, quantity },
  "inventory.released": { releaseId: name, reservationId: name, quantity, reason: wording },
  "inventory.shipped": { shipmentId: name, items: rows(lineQuantity) },
  "cancel.requested": {
    cancelId: name,
    scope: oneOf("order", "lines"),
    items: optional(rows(lineQuantity, { least: 0 }), []),
    reason: wording,
  },
  "cancel.confirmed": { cancelId: name },
  "cancel.rejected": { cancelId: name },
};

export function readEvent(envelope: EventEnvelope): Reading {
  if (!isClean(envelope, 0)) return { kind: "invalid" };
  if (Buffer.byteLength(JSON.stringify(envelope)) > MOST_BYTES) return { kind: "invalid" };
  const schemaversion: unknown = envelope.schemaversion ?? 1;
  if (!isWhole(schemaversion) || schemaversion < 1) return { kind: "invalid" };
  const shape = Object.hasOwn(shapes, envelope.type) ? shapes[envelope.type as OrderEventType] : undefined;
  if (shape === undefined || schemaversion > KNOWN_SCHEMA) return { kind: "unsupported" };
  if (!fits(shape, envelope.data)) return { kind: "invalid" };
  const data = knownPart(shape, envelope.data);
  const fact = { type: envelope.type, lcid: envelope.lcid, data } as unknown as OrderEvent;
  return holdsTogether(fact) ? { kind: "fact", fact } : { kind: "invalid" };
}

/** What two sendings under one id are compared by: known data alone where the event is understood, else everything. */
export function bodyOf(envelope: EventEnvelope, reading: Reading): string {
  if (reading.kind === "fact") return JSON.stringify(reading.fact);
  const { type, lcid, schemaversion, data } = envelope;
  return JSON.stringify(sorted({ type, lcid, schemaversion, data }));
}

/** The rules that concern more than one field. */
function holdsTogether(fact: OrderEvent): boolean {
  if (fact.type === "order.placed") {
    const goods = fact.data.lines.reduce((sum, line) => sum + line.quantity * line.unitAmount, 0);
    return goods + fact.data.adjustment >= 0;
  }
  // An empty list names as few lines as no list does.
  if (fact.type === "cancel.requested") return (fact.data.scope === "lines") === fact.data.items.length > 0;
  return true;
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fits(shape: Shape, value: unknown): boolean {
  return isRecord(value) && Object.entries(shape).every(([field, rule]) => rule.allows(own(value, field)));
}

function knownPart(shape: Shape, value: unknown): Record<string, unknown> {
  const record = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(shape).map(([field, rule]) => [field, rule.known(own(record, field))]),
  );
}

function own(record: Record<string, unknown>, field: string): unknown {
  return Object.hasOwn(record, field) ? record[field] : undefined;
}

function distinctLines(values: readonly unknown[]): boolean {
  return new Set(values.map((row) => (row as { lineId: unknown }).lineId)).size === values.length;
}

/**
 * No NUL, no lone surrogate, no number that JSON readers would round, no key that reaches for a prototype, not too deep.
 * The envelope is depth 0; only what can hold something counts.
 */
function isClean(value: unknown, depth: number): boolean {
  if (typeof value === "string") return isCleanText(value);
  if (typeof value === "number") return Number.isInteger(value) ? isWhole(value) : Number.isFinite(value);
  if (depth > DEEPEST) return value === null || typeof value !== "object";
  if (Array.isArray(value)) return value.every((entry) => isClean(entry, depth + 1));
  if (!isRecord(value)) return true;
  return Object.entries(value).every(
    ([key, entry]) => !reachesForPrototype(key, entry) && isCleanText(key) && isClean(entry, depth + 1),
  );
}

function reachesForPrototype(key: string, value: unknown): boolean {
  if (key === "__proto__") return true;
  return key === "constructor" && isRecord(value) && Object.hasOwn(value, "prototype");
}

function isCleanText(value: string): boolean {
  return !value.includes("\u0000") && !/\p{Surrogate}/u.test(value);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key])]),
  );
}
