import { createHmac } from "node:crypto";

export const SECRET = "whsec_canary_of_the_first_secret";
export const SECOND_SECRET = "whsec_canary_of_the_next_secret";

export interface Signing {
  readonly secret?: string;
  readonly atMs?: number;
}

export function v1Of(payload: string, { secret = SECRET, atMs = Date.now() }: Signing = {}): string {
  const timestamp = Math.floor(atMs / 1_000);
  return createHmac("sha256", secret).update(`${timestamp}.${payload}`).digest("hex");
}

export function signatureOf(payload: string, signing: Signing = {}): string {
  const timestamp = Math.floor((signing.atMs ?? Date.now()) / 1_000);
  return `t=${timestamp},v1=${v1Of(payload, signing)},v0=${"0".repeat(64)}`;
}

export type Fields = Readonly<Record<string, unknown>>;

/** An event as Stripe sends it, as far as anybody looks at it. */
export function stripeEvent(type: string, object: Fields, part: Fields = {}): Fields {
  return {
    id: "evt_1",
    object: "event",
    api_version: "2025-09-30.clover",
    created: 1_764_489_600,
    livemode: false,
    pending_webhooks: 1,
    type,
    data: { object },
    ...part,
  };
}

export function intent(part: Fields = {}): Fields {
  return {
    id: "pi_1",
    object: "payment_intent",
    amount: 1200,
    amount_capturable: 0,
    amount_received: 0,
    capture_method: "manual",
    currency: "eur",
    latest_charge: "ch_1",
    metadata: { lcid: "A-1" },
    status: "requires_capture",
    ...part,
  };
}

export function refund(part: Fields = {}): Fields {
  return {
    id: "re_1",
    object: "refund",
    amount: 500,
    charge: "ch_1",
    currency: "eur",
    metadata: { lcid: "A-1" },
    payment_intent: "pi_1",
    status: "succeeded",
    ...part,
  };
}
