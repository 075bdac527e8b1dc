import { type DraftAuthorization, type DraftCapture, type OrderDraft, remember, strike } from "./draft.ts";
import type { Scene } from "./scene.ts";

/** What the payment side tells: authorizations, captures, voids, refunds, and what went wrong with them. */
export const paymentScenes: readonly Scene[] = [
  { weight: (draft) => authorizeWeight(draft), play: authorize },
  { weight: (draft) => (draft.cancelled ? 0 : 0.5), play: failAnAttempt },
  { weight: (draft) => captureWeight(draft), play: capture },
  { weight: (draft) => (draft.missingAmount > 0 && draft.authorizations.length === 0 ? 1.5 : 0), play: sell },
  { weight: (draft) => voidWeight(draft), play: voidSome },
  { weight: (draft) => refundWeight(draft), play: refund },
  {
    weight: (draft) => (refundable(draft).some((entry) => entry.refunded === 0) ? 0.12 : 0),
    play: reverseCapture,
  },
  { weight: (draft) => (draft.refunds.length > 0 ? 0.25 : 0), play: reverseRefund },
  { weight: (draft) => (knownAuthorizations(draft).length > 0 ? 0.2 : 0), play: failTooLate },
  {
    weight: (draft) => (draft.authorizations.length > 0 && draft.overtaken === null ? 0.1 : 0),
    play: failBeforeCapture,
  },
  { weight: (draft) => (draft.overtaken === null ? 0 : 20), play: captureOvertaken },
  { weight: (draft) => (draft.captures.length > 0 ? 0.25 : 0), play: reportCaptureTwice },
];

function authorizeWeight(draft: OrderDraft): number {
  if (draft.cancelled) return 0.05;
  if (draft.missingAmount > 0) return 8;
  return draft.lasting ? 1.5 : 0.05;
}

function authorize(draft: OrderDraft): void {
  const { random } = draft;
  const missing = draft.missingAmount;
  const whole = missing > 0 && !draft.lasting && !random.chance(0.15);
  // A card is authorized for the whole; a lasting order sees many small ones.
  const amount = whole ? missing : random.whole(1, Math.max(1, Math.min(missing || 3_000, 5_000)));
  const id = draft.name("auth");
  const item = draft.tell({
    source: "/payments",
    type: "payment.authorized",
    data: { authorizationId: id, amount, currency: draft.currency, ...cardOf(draft) },
    needs: [draft.placement],
  });
  remember(draft.authorizations, { id, open: amount, item });
}

function failAnAttempt(draft: OrderDraft): void {
  draft.tell({
    source: "/payments",
    type: "payment.failed",
    data: {
      stage: "authorization",
      ref: draft.name("attempt"),
      code: draft.random.pick(["insufficient_funds", "card_declined", "3ds_abandoned"]),
    },
    needs: [draft.placement],
  });
}

function captureWeight(draft: OrderDraft): number {
  if (draft.authorizations.length === 0) return 0;
  if (draft.cancelled) return 0.15;
  if (draft.captured < draft.payable) return 6;
  return draft.lasting ? 1.5 : 0.3;
}

function capture(draft: OrderDraft): void {
  const { random } = draft;
  const authorization = random.pick(draft.authorizations);
  const part = random.chance(draft.lasting ? 0.6 : 0.25);
  const amount = part ? random.whole(1, authorization.open) : authorization.open;
  const id = draft.name("cap");
  const item = draft.tell({
    source: "/payments",
    type: "payment.captured",
    data: { captureId: id, authorizationId: authorization.id, amount, currency: draft.currency },
    needs: [authorization.item],
  });
  useUp(draft, authorization, amount);
  remember(draft.captures, { id, authorization, amount, refunded: 0, item });
  draft.captured += amount;
}

/** A sale: taken at once, without an authorization of its own. */
function sell(draft: OrderDraft): void {
  const amount = draft.missingAmount;
  const id = draft.name("cap");
  const item = draft.tell({
    source: draft.random.pick(["/payments", "/service-desk"]),
    type: "payment.captured",
    data: { captureId: id, authorizationId: null, amount, currency: draft.currency },
    needs: [draft.placement],
  });
  remember(draft.captures, { id, authorization: null, amount, refunded: 0, item });
  draft.captured += amount;
}

function voidWeight(draft: OrderDraft): number {
  if (draft.authorizations.length === 0) return 0;
  return draft.captured >= draft.payable ? 2.5 : 0.15;
}

function voidSome(draft: OrderDraft): void {
  const { random } = draft;
  const authorization = random.pick(draft.authorizations);
  const amount = random.chance(0.2) ? random.whole(1, authorization.open) : authorization.open;
  draft.tell({
    source: "/payments",
    type: "payment.voided",
    data: {
      voidId: draft.name("void"),
      authorizationId: authorization.id,
      amount,
      reason: random.chance(0.3) ? "expired" : "voided",
    },
    needs: [authorization.item],
  });
  useUp(draft, authorization, amount);
}

function refundable(draft: OrderDraft): DraftCapture[] {
  return draft.captures.filter((entry) => entry.refunded < entry.amount);
}

function refundWeight(draft: OrderDraft): number {
  if (refundable(draft).length === 0) return 0;
  if (draft.refundDue > 0) return 4;
  return draft.lasting ? 0.8 : 0.15;
}

function refund(draft: OrderDraft): void {
  const { random } = draft;
  const captured = random.pick(refundable(draft));
  const left = captured.amount - captured.refunded;
  const due = draft.refundDue > 0 ? Math.min(left, draft.refundDue) : left;
  const amount = random.chance(draft.lasting ? 0.8 : 0.3) ? random.whole(1, due) : due;
  const id = draft.name("refund");
  const item = draft.tell({
    source: random.pick(["/payments", "/service-desk"]),
    type: "payment.refunded",
    data: { refundId: id, captureId: captured.id, amount, currency: draft.currency },
    needs: [captured.item],
  });
  captured.refunded += amount;
  draft.refunded += amount;
  remember(draft.refunds, { id, capture: captured, amount, item });
}

/** The provider takes a capture back after having reported it. */
function reverseCapture(draft: OrderDraft): void {
  const captured = draft.random.pick(refundable(draft).filter((entry) => entry.refunded === 0));
  draft.tell({
    source: "/payments",
    type: "payment.failed",
    data: { stage: "capture", ref: captured.id, code: "reversed_by_acquirer" },
    needs: [captured.item],
  });
  strike(draft.captures, captured);
  remember(draft.reversedCaptures, captured, 4);
  draft.captured -= captured.amount;
  const { authorization } = captured;
  if (authorization === null) return;
  if (authorization.open === 0) {
    strike(draft.closedAuthorizations, authorization);
    remember(draft.authorizations, authorization);
  }
  authorization.open += captured.amount;
}

function reverseRefund(draft: OrderDraft): void {
  const refunded = draft.random.pick(draft.refunds);
  draft.tell({
    source: "/payments",
    type: "payment.failed",
    data: { stage: "refund", ref: refunded.id, code: "account_closed" },
    needs: [refunded.item],
  });
  strike(draft.refunds, refunded);
  refunded.capture.refunded -= refunded.amount;
  draft.refunded -= refunded.amount;
}

function knownAuthorizations(draft: OrderDraft): DraftAuthorization[] {
  return [...draft.authorizations, ...draft.closedAuthorizations];
}

/** A late report about an attempt that has long succeeded. */
function failTooLate(draft: OrderDraft): void {
  const authorization = draft.random.pick(knownAuthorizations(draft));
  draft.tell({
    source: "/payments",
    type: "payment.failed",
    data: { stage: "authorization", ref: authorization.id, code: "timeout" },
    needs: [authorization.item],
  });
}

/** The failure overtakes the capture it belongs to: the capture then counts for nothing. */
function failBeforeCapture(draft: OrderDraft): void {
  const authorization = draft.random.pick(draft.authorizations);
  const id = draft.name("cap");
  const failure = draft.tell({
    source: "/payments",
    type: "payment.failed",
    data: { stage: "capture", ref: id, code: "acquirer_unavailable" },
    needs: [draft.placement],
  });
  draft.overtaken = { id, authorization, amount: authorization.open, failure };
}

function captureOvertaken(draft: OrderDraft): void {
  const { overtaken } = draft;
  if (overtaken === null) return;
  const { id, authorization, amount, failure } = overtaken;
  draft.tell({
    source: "/payments",
    type: "payment.captured",
    data: { captureId: id, authorizationId: authorization.id, amount, currency: draft.currency },
    needs: [failure, authorization.item],
  });
  draft.overtaken = null;
}

/** The checkout page and the provider's webhook report one capture under two event ids. */
function reportCaptureTwice(draft: OrderDraft): void {
  const captured = draft.random.pick(draft.captures);
  const { data } = captured.item.event;
  draft.tell({
    source: "/checkout",
    type: "payment.captured",
    data: { ...(data as Record<string, unknown>) },
    needs: [captured.authorization?.item ?? draft.placement],
  });
}

function useUp(draft: OrderDraft, authorization: DraftAuthorization, amount: number): void {
  authorization.open -= amount;
  if (authorization.open > 0) return;
  strike(draft.authorizations, authorization);
  remember(draft.closedAuthorizations, authorization, 4);
}

/** Producers send more than the domain knows; such fields are kept and ignored. */
function cardOf(draft: OrderDraft): Record<string, unknown> {
  if (!draft.random.chance(0.3)) return {};
  return { brand: draft.random.pick(["visa", "jcb", "mastercard"]), threeDSecure: draft.random.chance(0.8) };
}
