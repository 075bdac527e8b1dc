import { readEnvelope } from "@junban/orders";
import type { EventEnvelope } from "@junban/orders";

/** The source of every event that comes this way. */
const STRIPE_SOURCE = "/stripe";

type Fields = Readonly<Record<string, unknown>>;

/** What a provider's event becomes: ours, in order; or why nothing. */
export type Mapped =
  | { readonly kind: "events"; readonly events: readonly EventEnvelope[] }
  /** A type, or a state of its object, that says nothing about an order's payments. */
  | { readonly kind: "unmapped" }
  /** Its object's metadata names no order. */
  | { readonly kind: "no-order" }
  /** It is no event of Stripe's. */
  | { readonly kind: "unreadable" };

interface Part {
  /** Tells the parts of one Stripe event apart; the first has none. */
  readonly suffix?: string;
  readonly type: string;
  readonly data: Fields;
}

/**
 * Which of our payment events a Stripe event stands for. A payment intent is the authorization and the capture at once, under
 * its own id. Values are taken over unjudged: what breaks a rule is rejected in its place in line, where people find it.
 */
const MAPPING: ReadonlyMap<string, (object: Fields, eventId: string) => readonly Part[]> = new Map([
  ["payment_intent.amount_capturable_updated", authorized],
  ["payment_intent.succeeded", captured],
  ["payment_intent.canceled", canceled],
  ["payment_intent.payment_failed", attemptFailed],
  ["refund.created", refunded],
  ["refund.updated", refunded],
  ["refund.failed", refundFailed],
]);

/** Stripe counts these currencies in other units than ISO 4217 does: how many of Stripe's are one of ours. */
const STRIPE_UNITS: Readonly<Record<string, number>> = { ISK: 100, UGX: 100, MGA: 0.01 };

/** Why Stripe itself cancels an intent of which nobody captured. */
const STRIPES_OWN_ENDS: ReadonlySet<unknown> = new Set(["automatic", "expired"]);

export function mapStripeEvent(body: unknown): Mapped {
  const event = fieldsOf(body);
  const { id, type, created } = event;
  const isEvent = event["object"] === "event" && typeof id === "string";
  if (!isEvent || typeof type !== "string") return { kind: "unreadable" };
  const toParts = MAPPING.get(type);
  if (toParts === undefined) return { kind: "unmapped" };
  const object = fieldsOf(fieldsOf(event["data"])["object"]);
  const parts = toParts(object, id);
  if (parts.length === 0) return { kind: "unmapped" };
  const lcid = fieldsOf(object["metadata"])["lcid"];
  const time = timeOf(created);
  const events: EventEnvelope[] = [];
  for (const { suffix = "", type: ours, data } of parts) {
    const envelope = {
      specversion: "1.0",
      id: `${id}${suffix}`,
      source: STRIPE_SOURCE,
      type: ours,
      lcid,
      ...time,
      data,
    };
    const reading = readEnvelope(envelope);
    if (reading.kind === "usable") events.push(reading.envelope);
    else return { kind: reading.field === "lcid" ? "no-order" : "unreadable" };
  }
  return { kind: "events", events };
}

function authorized(intent: Fields): readonly Part[] {
  // Also told when the last capture takes from it, with what is left then.
  if (intent["status"] !== "requires_capture") return [];
  const data = { authorizationId: intent["id"], ...moneyOf(intent, "amount_capturable") };
  return [{ type: "payment.authorized", data }];
}

/** With manual capture it was authorized before, and Stripe gives up what the capture left; else it is a sale. */
function captured(intent: Fields): readonly Part[] {
  const { id } = intent;
  const isManual = intent["capture_method"] === "manual";
  const money = moneyOf(intent, "amount_received");
  const capture = { captureId: id, authorizationId: isManual ? id : null, ...money };
  const left = Number(moneyOf(intent, "amount").amount) - Number(money.amount);
  const parts: Part[] = [{ type: "payment.captured", data: capture }];
  if (!isManual || !(left > 0)) return parts;
  const rest = { voidId: `${String(id)}:rest`, authorizationId: id, amount: left, reason: "voided" };
  return [...parts, { suffix: ":rest", type: "payment.voided", data: rest }];
}

/**
 * One that never had a charge authorized nothing that could be given up. One whose every charge was declined did not either, but
 * does not say so for certain: its void waits for an authorization, and is rejected when none comes.
 */
function canceled(intent: Fields): readonly Part[] {
  const { id } = intent;
  if (intent["capture_method"] !== "manual" || (intent["latest_charge"] ?? null) === null) return [];
  const reason = STRIPES_OWN_ENDS.has(intent["cancellation_reason"]) ? "expired" : "voided";
  const { amount } = moneyOf(intent, "amount");
  return [{ type: "payment.voided", data: { voidId: id, authorizationId: id, amount, reason } }];
}

/** Each attempt is a failure of its own: the intent itself may succeed later. */
function attemptFailed(intent: Fields, eventId: string): readonly Part[] {
  const error = fieldsOf(intent["last_payment_error"]);
  const data = { stage: "authorization", ref: error["charge"] ?? eventId, code: error["code"] ?? "unknown" };
  return [{ type: "payment.failed", data }];
}

/** Told when it is made and when it changes; the refund's id is the business key, so that it counts once. */
function refunded(refund: Fields): readonly Part[] {
  if (refund["status"] !== "succeeded") return [];
  const data = { refundId: refund["id"], captureId: refund["payment_intent"], ...moneyOf(refund, "amount") };
  return [{ type: "payment.refunded", data }];
}

function refundFailed(refund: Fields): readonly Part[] {
  const data = { stage: "refund", ref: refund["id"], code: refund["failure_reason"] ?? "unknown" };
  return [{ type: "payment.failed", data }];
}

function moneyOf(object: Fields, field: string): { readonly amount: unknown; readonly currency: unknown } {
  const { [field]: amount, currency: written } = object;
  const currency = typeof written === "string" ? written.toUpperCase() : written;
  const units =
    typeof currency === "string" && Object.hasOwn(STRIPE_UNITS, currency)
      ? STRIPE_UNITS[currency]
      : undefined;
  if (units === undefined || typeof amount !== "number") return { amount, currency };
  return { amount: units < 1 ? amount * Math.round(1 / units) : amount / units, currency };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function timeOf(created: unknown): { readonly time?: string } {
  const isTime = typeof created === "number" && Number.isInteger(created) && created > 0 && created < 1e11;
  return isTime ? { time: new Date(created * 1_000).toISOString() } : {};
}
