import type { Decision } from "./decision.ts";
import type {
  FailureStage,
  PaymentAuthorized,
  PaymentCaptured,
  PaymentFailed,
  PaymentRefunded,
  PaymentVoided,
} from "./event.ts";
import type { OrderView, Ref, RefName } from "./order.ts";
import { openOf } from "./quantities.ts";
import { applied, deferred, named, parentOf, refFor, rejected } from "./rules.ts";
import type { EventRules } from "./rules.ts";

type PaymentType =
  | "payment.authorized"
  | "payment.captured"
  | "payment.voided"
  | "payment.refunded"
  | "payment.failed";

export const PAYMENT_RULES: EventRules<PaymentType> = {
  "payment.authorized": {
    keyOf: ({ data }) => named("authorization", data.authorizationId),
    looksUp: () => [],
    decide: decideAuthorized,
  },
  "payment.captured": {
    keyOf: ({ data }) => named("capture", data.captureId),
    looksUp: ({ data }) => {
      const failure = failureOf("capture", data.captureId);
      return data.authorizationId === null
        ? [failure]
        : [named("authorization", data.authorizationId), failure];
    },
    decide: (view, event) =>
      event.data.authorizationId === null
        ? decideSale(view, event)
        : decideCaptured(view, { event, from: named("authorization", event.data.authorizationId) }),
  },
  "payment.voided": {
    keyOf: ({ data }) => named("void", data.voidId),
    looksUp: ({ data }) => [named("authorization", data.authorizationId)],
    decide: decideVoided,
  },
  "payment.refunded": {
    keyOf: ({ data }) => named("refund", data.refundId),
    looksUp: ({ data }) => [named("capture", data.captureId), failureOf("refund", data.refundId)],
    decide: decideRefunded,
  },
  "payment.failed": {
    keyOf: ({ data }) => failureOf(data.stage, data.ref),
    looksUp: ({ data }) => [named(data.stage, data.ref)],
    decide: decideFailed,
  },
};

function failureOf(stage: FailureStage, ref: string): RefName {
  return named("failure", `${stage}:${ref}`);
}

/** The other sums never exceed what was authorized, so this is the only one that could outgrow exact integers. */
function authorizedAfter(view: OrderView, amountMinor: number): number | null {
  const authorizedMinor = view.totals.authorizedMinor + amountMinor;
  return Number.isSafeInteger(authorizedMinor) ? authorizedMinor : null;
}

function decideAuthorized(view: OrderView, event: PaymentAuthorized): Decision {
  const { authorizationId, amount } = event.data;
  const authorizedMinor = authorizedAfter(view, amount);
  if (authorizedMinor === null) return rejected("TOTAL_OUT_OF_RANGE");
  const authorization = refFor(event, named("authorization", authorizationId), { amount });
  return applied(view, { totals: { authorizedMinor }, refs: [authorization] });
}

function decideCaptured(
  view: OrderView,
  { event, from }: { readonly event: PaymentCaptured; readonly from: RefName },
): Decision {
  const { captureId, amount } = event.data;
  const authorization = view.ref(from);
  if (authorization === undefined) return deferred("AUTHORIZATION_NOT_SEEN");
  const open = openOf(authorization);
  if (amount > open) {
    return rejected(open === 0 && authorization.voided > 0 ? "AUTHORIZATION_CLOSED" : "OVER_CAPTURE");
  }
  const reversed = isFailed(view, failureOf("capture", captureId));
  const capture = refFor(event, named("capture", captureId), { parent: from, amount, reversed });
  // Its failure came first: applied and reversed at once, so no sum moves.
  if (reversed) return applied(view, { refs: [capture] });
  return applied(view, {
    totals: { capturedMinor: view.totals.capturedMinor + amount },
    refs: [capture, { ...authorization, used: authorization.used + amount }],
  });
}

/** A sale brings its authorization along, which has no name of its own and lives and dies with the capture. */
function decideSale(view: OrderView, event: PaymentCaptured): Decision {
  const { captureId, amount } = event.data;
  const { capturedMinor, voidedMinor } = view.totals;
  const authorizedMinor = authorizedAfter(view, amount);
  if (authorizedMinor === null) return rejected("TOTAL_OUT_OF_RANGE");
  const reversed = isFailed(view, failureOf("capture", captureId));
  const capture = refFor(event, named("capture", captureId), { amount, reversed });
  const totals = reversed
    ? { authorizedMinor, voidedMinor: voidedMinor + amount }
    : { authorizedMinor, capturedMinor: capturedMinor + amount };
  return applied(view, { totals, refs: [capture] });
}

function decideVoided(view: OrderView, event: PaymentVoided): Decision {
  const { voidId, authorizationId, amount } = event.data;
  const parent = named("authorization", authorizationId);
  const authorization = view.ref(parent);
  if (authorization === undefined) return deferred("AUTHORIZATION_NOT_SEEN");
  if (amount > openOf(authorization)) return rejected("VOID_EXCEEDS_OPEN");
  return applied(view, {
    totals: { voidedMinor: view.totals.voidedMinor + amount },
    refs: [
      refFor(event, named("void", voidId), { parent, amount }),
      { ...authorization, voided: authorization.voided + amount },
    ],
  });
}

function decideRefunded(view: OrderView, event: PaymentRefunded): Decision {
  const { refundId, captureId, amount } = event.data;
  const parent = named("capture", captureId);
  const capture = view.ref(parent);
  if (capture === undefined) return deferred("CAPTURE_NOT_SEEN");
  if (capture.reversed) return rejected("CAPTURE_REVERSED");
  if (amount > capture.amount - capture.used) return rejected("OVER_REFUND");
  const reversed = isFailed(view, failureOf("refund", refundId));
  const refund = refFor(event, named("refund", refundId), { parent, amount, reversed });
  if (reversed) return applied(view, { refs: [refund] });
  return applied(view, {
    totals: { refundedMinor: view.totals.refundedMinor + amount },
    refs: [refund, { ...capture, used: capture.used + amount }],
  });
}

function isFailed(view: OrderView, failure: RefName): boolean {
  return view.ref(failure) !== undefined;
}

function decideFailed(view: OrderView, event: PaymentFailed): Decision {
  const { stage, ref } = event.data;
  const failure = refFor(event, failureOf(stage, ref));
  const known = view.ref(named(stage, ref));
  // Another attempt, or news that overtook what it is about. Either way it is on record from now on.
  if (known === undefined) return applyFailure(view, [failure], {});
  switch (stage) {
    case "authorization":
      return rejected("STALE_FAILURE");
    case "capture":
      return reverseCapture(view, { failure, capture: known });
    case "refund":
      return reverseRefund(view, { failure, refund: known });
  }
}

function reverseCapture(
  view: OrderView,
  { failure, capture }: { readonly failure: Ref; readonly capture: Ref },
): Decision {
  if (capture.used > 0) return rejected("REVERSAL_AFTER_REFUND");
  const { amount } = capture;
  const capturedMinor = view.totals.capturedMinor - amount;
  const authorization = parentOf(view, capture);
  const refs = [failure, { ...capture, reversed: true }];
  if (authorization === null) {
    return applyFailure(view, refs, { capturedMinor, voidedMinor: view.totals.voidedMinor + amount });
  }
  const reopened = { ...authorization, used: authorization.used - amount };
  return applyFailure(view, [...refs, reopened], { capturedMinor });
}

function reverseRefund(
  view: OrderView,
  { failure, refund }: { readonly failure: Ref; readonly refund: Ref },
): Decision {
  const { amount } = refund;
  const refs = [failure, { ...refund, reversed: true }];
  const capture = parentOf(view, refund);
  if (capture !== null) refs.push({ ...capture, used: capture.used - amount });
  return applyFailure(view, refs, { refundedMinor: view.totals.refundedMinor - amount });
}

function applyFailure(
  view: OrderView,
  refs: readonly Ref[],
  totals: { capturedMinor?: number; voidedMinor?: number; refundedMinor?: number },
): Decision {
  const paymentFailures = view.totals.paymentFailures + 1;
  return applied(view, { totals: { ...totals, paymentFailures }, refs });
}
