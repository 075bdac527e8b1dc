import { describe } from "vitest";
import {
  authorized,
  cancelled,
  captured,
  event,
  failed,
  line,
  placed,
  refunded,
  reserved,
  sale,
  shipped,
  voided,
} from "./events.ts";
import { checkTransitions } from "./transitions.ts";

const order = placed([line("L1", 10)]);
const withAuthorization = [order, authorized("a-1", 1000)];
const withCapture = [...withAuthorization, captured("c-1", "a-1", 600)];
const isCancelled = [order, authorized("a-1", 1000), ...cancelled("k-1")];
const HUGE = 1_000_000_000_000;

/** As many authorizations of 10^12 as leave less than that below the last exact integer. */
const nearlyTooMuch = Array.from({ length: 9007 }, (_, index) => authorized(`huge-${index}`, HUGE));

describe("payment.authorized", () => {
  checkTransitions([
    { says: "before the order", given: [], when: authorized("a-1", 1000), then: "deferred ORDER_NOT_FOUND" },
    {
      says: "in another currency",
      given: [order],
      when: authorized("a-1", 1000, "USD"),
      then: "rejected CURRENCY_MISMATCH",
    },
    {
      says: "all of it",
      given: [order],
      when: authorized("a-1", 1000),
      then: "applied",
      shows: {
        totals: { authorizedMinor: 1000 },
        derived: { openMinor: 1000, paymentStatus: "authorized", voidDueMinor: 0 },
      },
    },
    {
      says: "less than the order costs",
      given: [order],
      when: authorized("a-1", 999),
      then: "applied",
      shows: { derived: { paymentStatus: "partially_authorized" } },
    },
    {
      says: "more than the order costs",
      given: [order],
      when: authorized("a-1", 1200),
      then: "applied",
      shows: { derived: { voidDueMinor: 200 } },
    },
    {
      says: "on a cancelled order",
      given: [order, ...cancelled("k-1")],
      when: authorized("a-1", 1000),
      then: "applied",
      shows: { derived: { voidDueMinor: 1000, status: "cancelled" } },
    },
    {
      says: "again with the same data",
      given: withAuthorization,
      when: authorized("a-1", 1000),
      then: "duplicate",
    },
    {
      says: "again with another amount",
      given: withAuthorization,
      when: authorized("a-1", 999),
      then: "rejected REF_CONFLICT",
    },
    {
      says: "again in another currency is a conflict before it is a mismatch",
      given: withAuthorization,
      when: authorized("a-1", 1000, "USD"),
      then: "rejected REF_CONFLICT",
    },
    {
      says: "a sum that integers cannot hold",
      given: [order, ...nearlyTooMuch],
      when: authorized("a-1", HUGE),
      then: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "after a failed attempt under the same reference",
      given: [order, failed("authorization", "a-1")],
      when: authorized("a-1", 1000),
      then: "applied",
      shows: { totals: { authorizedMinor: 1000, paymentFailures: 1 } },
    },
  ]);
});

describe("payment.captured", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: captured("c-1", "a-1", 600),
      then: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "in another currency",
      given: withAuthorization,
      when: captured("c-1", "a-1", 600, "USD"),
      then: "rejected CURRENCY_MISMATCH",
    },
    {
      says: "before its authorization",
      given: [order],
      when: captured("c-1", "a-1", 600),
      then: "deferred AUTHORIZATION_NOT_SEEN",
    },
    {
      says: "before its authorization on a cancelled order",
      given: [order, ...cancelled("k-1")],
      when: captured("c-1", "a-1", 600),
      then: "deferred AUTHORIZATION_NOT_SEEN",
    },
    {
      says: "a part",
      given: withAuthorization,
      when: captured("c-1", "a-1", 600),
      then: "applied",
      shows: {
        totals: { authorizedMinor: 1000, capturedMinor: 600 },
        derived: { openMinor: 400, paymentStatus: "partially_captured" },
      },
    },
    {
      says: "the rest",
      given: withCapture,
      when: captured("c-2", "a-1", 400),
      then: "applied",
      shows: { derived: { paymentStatus: "paid", status: "confirmed", openMinor: 0 } },
    },
    {
      says: "more than is left",
      given: withCapture,
      when: captured("c-2", "a-1", 401),
      then: "rejected OVER_CAPTURE",
    },
    {
      says: "more than is left after a partial void",
      given: [...withAuthorization, voided("v-1", "a-1", 500)],
      when: captured("c-1", "a-1", 501),
      then: "rejected OVER_CAPTURE",
    },
    {
      says: "after the rest was voided",
      given: [...withCapture, voided("v-1", "a-1", 400)],
      when: captured("c-2", "a-1", 1),
      then: "rejected AUTHORIZATION_CLOSED",
    },
    {
      says: "after everything was captured, nothing voided",
      given: [...withAuthorization, captured("c-1", "a-1", 1000)],
      when: captured("c-2", "a-1", 1),
      then: "rejected OVER_CAPTURE",
    },
    {
      says: "on a cancelled order",
      given: isCancelled,
      when: captured("c-1", "a-1", 600),
      then: "applied",
      shows: {
        derived: { refundDueMinor: 600, paymentStatus: "refund_due", voidDueMinor: 400, status: "cancelled" },
      },
    },
    {
      says: "too much on a cancelled order",
      given: isCancelled,
      when: captured("c-1", "a-1", 1001),
      then: "rejected OVER_CAPTURE",
    },
    {
      says: "again with the same data",
      given: withCapture,
      when: captured("c-1", "a-1", 600),
      then: "duplicate",
    },
    {
      says: "again with another amount",
      given: withCapture,
      when: captured("c-1", "a-1", 400),
      then: "rejected REF_CONFLICT",
    },
    { says: "again as a sale", given: withCapture, when: sale("c-1", 600), then: "rejected REF_CONFLICT" },
    {
      says: "reported failed before, it counts as reversed",
      given: [...withAuthorization, failed("capture", "c-1")],
      when: captured("c-1", "a-1", 600),
      then: "applied",
      shows: {
        totals: { capturedMinor: 0, voidedMinor: 0, paymentFailures: 1 },
        derived: { openMinor: 1000, paymentStatus: "authorized" },
      },
    },
    {
      says: "another stage's failure under the same reference is not its own",
      given: [...withAuthorization, failed("refund", "c-1")],
      when: captured("c-1", "a-1", 600),
      then: "applied",
      shows: { totals: { capturedMinor: 600 } },
    },
  ]);
});

describe("payment.captured as a sale", () => {
  checkTransitions([
    {
      says: "adds its authorization",
      given: [order],
      when: sale("c-1", 1000),
      then: "applied",
      shows: {
        totals: { authorizedMinor: 1000, capturedMinor: 1000, voidedMinor: 0 },
        derived: { openMinor: 0, paymentStatus: "paid" },
      },
    },
    {
      says: "its authorization cannot be captured from",
      given: [order, sale("c-1", 1000)],
      when: captured("c-2", "c-1", 1),
      then: "deferred AUTHORIZATION_NOT_SEEN",
    },
    {
      says: "its authorization cannot fail under the sale's name",
      given: [order, sale("c-1", 1000)],
      when: failed("authorization", "c-1"),
      then: "applied",
      shows: { totals: { capturedMinor: 1000 }, derived: { paymentStatus: "paid" } },
    },
    {
      says: "reported failed before, it counts as reversed and its authorization as closed",
      given: [order, failed("capture", "c-1")],
      when: sale("c-1", 1000),
      then: "applied",
      shows: {
        totals: { authorizedMinor: 1000, capturedMinor: 0, voidedMinor: 1000 },
        derived: { openMinor: 0, paymentStatus: "voided" },
      },
    },
    {
      says: "a sum that integers cannot hold",
      given: [order, ...nearlyTooMuch],
      when: sale("c-1", HUGE),
      then: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "on a cancelled order",
      given: [order, ...cancelled("k-1")],
      when: sale("c-1", 1000),
      then: "applied",
      shows: { derived: { refundDueMinor: 1000 } },
    },
  ]);
});

describe("payment.voided", () => {
  checkTransitions([
    { says: "before the order", given: [], when: voided("v-1", "a-1", 1), then: "deferred ORDER_NOT_FOUND" },
    {
      says: "before its authorization",
      given: [order],
      when: voided("v-1", "a-1", 1),
      then: "deferred AUTHORIZATION_NOT_SEEN",
    },
    {
      says: "what is left",
      given: withCapture,
      when: voided("v-1", "a-1", 400),
      then: "applied",
      shows: { totals: { capturedMinor: 600, voidedMinor: 400 }, derived: { openMinor: 0 } },
    },
    {
      says: "everything",
      given: withAuthorization,
      when: voided("v-1", "a-1", 1000),
      then: "applied",
      shows: { derived: { paymentStatus: "voided" } },
    },
    {
      says: "more than is left",
      given: withCapture,
      when: voided("v-1", "a-1", 401),
      then: "rejected VOID_EXCEEDS_OPEN",
    },
    {
      says: "more than an earlier void left",
      given: [...withAuthorization, voided("v-1", "a-1", 1000)],
      when: voided("v-2", "a-1", 1),
      then: "rejected VOID_EXCEEDS_OPEN",
    },
    {
      says: "on a cancelled order",
      given: isCancelled,
      when: voided("v-1", "a-1", 1000),
      then: "applied",
      shows: { derived: { voidDueMinor: 0 } },
    },
    {
      says: "too much on a cancelled order",
      given: isCancelled,
      when: voided("v-1", "a-1", 1001),
      then: "rejected VOID_EXCEEDS_OPEN",
    },
    {
      says: "again with the same data",
      given: [...withAuthorization, voided("v-1", "a-1", 9)],
      when: voided("v-1", "a-1", 9),
      then: "duplicate",
    },
    {
      says: "again with another reason",
      given: [...withAuthorization, voided("v-1", "a-1", 9)],
      when: event("payment.voided", { voidId: "v-1", authorizationId: "a-1", amount: 9, reason: "expired" }),
      then: "rejected REF_CONFLICT",
    },
  ]);
});

describe("payment.refunded", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: refunded("f-1", "c-1", 1),
      then: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "in another currency",
      given: withCapture,
      when: refunded("f-1", "c-1", 1, "USD"),
      then: "rejected CURRENCY_MISMATCH",
    },
    {
      says: "before its capture",
      given: withAuthorization,
      when: refunded("f-1", "c-1", 1),
      then: "deferred CAPTURE_NOT_SEEN",
    },
    {
      says: "a part",
      given: withCapture,
      when: refunded("f-1", "c-1", 200),
      then: "applied",
      shows: {
        totals: { capturedMinor: 600, refundedMinor: 200 },
        derived: { paymentStatus: "partially_refunded" },
      },
    },
    {
      says: "everything",
      given: withCapture,
      when: refunded("f-1", "c-1", 600),
      then: "applied",
      shows: { derived: { paymentStatus: "refunded" } },
    },
    {
      says: "more than the capture has left",
      given: [...withCapture, refunded("f-1", "c-1", 200)],
      when: refunded("f-2", "c-1", 401),
      then: "rejected OVER_REFUND",
    },
    {
      says: "more than one capture has, though another has it",
      given: [...withCapture, captured("c-2", "a-1", 400)],
      when: refunded("f-1", "c-2", 401),
      then: "rejected OVER_REFUND",
    },
    {
      says: "of a reversed capture",
      given: [...withCapture, failed("capture", "c-1")],
      when: refunded("f-1", "c-1", 1),
      then: "rejected CAPTURE_REVERSED",
    },
    {
      says: "on a cancelled order",
      given: [...withCapture, ...cancelled("k-1")],
      when: refunded("f-1", "c-1", 600),
      then: "applied",
      shows: { derived: { refundDueMinor: 0, paymentStatus: "refunded", voidDueMinor: 400 } },
    },
    {
      says: "again with the same data",
      given: [...withCapture, refunded("f-1", "c-1", 9)],
      when: refunded("f-1", "c-1", 9),
      then: "duplicate",
    },
    {
      says: "again with another amount",
      given: [...withCapture, refunded("f-1", "c-1", 9)],
      when: refunded("f-1", "c-1", 8),
      then: "rejected REF_CONFLICT",
    },
    {
      says: "reported failed before, it counts as reversed",
      given: [...withCapture, failed("refund", "f-1")],
      when: refunded("f-1", "c-1", 600),
      then: "applied",
      shows: {
        totals: { refundedMinor: 0, paymentFailures: 1 },
        derived: { paymentStatus: "partially_captured" },
      },
    },
    {
      says: "a reversed refund leaves the capture whole",
      given: [...withCapture, failed("refund", "f-1"), refunded("f-1", "c-1", 600)],
      when: refunded("f-2", "c-1", 600),
      then: "applied",
    },
  ]);
});

describe("payment.failed", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: failed("authorization", "a-1"),
      then: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "an attempt nobody knows",
      given: [order],
      when: failed("authorization", "a-1"),
      then: "applied",
      shows: { totals: { paymentFailures: 1 }, derived: { paymentStatus: "failed" } },
    },
    {
      says: "of an authorization that succeeded",
      given: withAuthorization,
      when: failed("authorization", "a-1"),
      then: "rejected STALE_FAILURE",
    },
    {
      says: "of another attempt",
      given: withAuthorization,
      when: failed("authorization", "a-2"),
      then: "applied",
      shows: { totals: { paymentFailures: 1 }, derived: { paymentStatus: "authorized" } },
    },
    {
      says: "of a capture reverses it and reopens its authorization",
      given: withCapture,
      when: failed("capture", "c-1"),
      then: "applied",
      shows: {
        totals: { capturedMinor: 0, voidedMinor: 0, paymentFailures: 1 },
        derived: { openMinor: 1000, paymentStatus: "authorized" },
      },
    },
    {
      says: "of a sale reverses it and closes its authorization",
      given: [order, sale("c-1", 1000)],
      when: failed("capture", "c-1"),
      then: "applied",
      shows: {
        totals: { authorizedMinor: 1000, capturedMinor: 0, voidedMinor: 1000 },
        derived: { openMinor: 0, paymentStatus: "voided" },
      },
    },
    {
      says: "of a capture that was refunded in part",
      given: [...withCapture, refunded("f-1", "c-1", 1)],
      when: failed("capture", "c-1"),
      then: "rejected REVERSAL_AFTER_REFUND",
    },
    {
      says: "of a capture whose refund failed too",
      given: [...withCapture, refunded("f-1", "c-1", 1), failed("refund", "f-1")],
      when: failed("capture", "c-1"),
      then: "applied",
      shows: { totals: { capturedMinor: 0, refundedMinor: 0 } },
    },
    {
      says: "of a refund reverses it",
      given: [...withCapture, refunded("f-1", "c-1", 600)],
      when: failed("refund", "f-1"),
      then: "applied",
      shows: {
        totals: { capturedMinor: 600, refundedMinor: 0 },
        derived: { paymentStatus: "partially_captured" },
      },
    },
    {
      says: "of a capture nobody knows",
      given: [order],
      when: failed("capture", "c-9"),
      then: "applied",
      shows: { totals: { capturedMinor: 0, paymentFailures: 1 } },
    },
    {
      says: "of a refund nobody knows",
      given: withCapture,
      when: failed("refund", "f-9"),
      then: "applied",
      shows: { totals: { capturedMinor: 600, refundedMinor: 0, paymentFailures: 1 } },
    },
    {
      says: "again with the same data",
      given: [...withCapture, failed("capture", "c-1")],
      when: failed("capture", "c-1"),
      then: "duplicate",
    },
    {
      says: "again with another code",
      given: [...withCapture, failed("capture", "c-1")],
      when: failed("capture", "c-1", "expired card"),
      then: "rejected REF_CONFLICT",
    },
    {
      says: "one reference may fail at two stages",
      given: [order, failed("capture", "x-1")],
      when: failed("refund", "x-1"),
      then: "applied",
      shows: { totals: { paymentFailures: 2 } },
    },
    {
      says: "on a cancelled order a reversal is applied too",
      given: [...withCapture, ...cancelled("k-1")],
      when: failed("capture", "c-1"),
      then: "applied",
      shows: { derived: { refundDueMinor: 0, voidDueMinor: 1000 } },
    },
    {
      says: "of a capture reopens a completed order",
      given: [order, sale("c-1", 1000), reserved("r-1", "L1", 10), shipped("s-1", { L1: 10 })],
      when: failed("capture", "c-1"),
      then: "applied",
      shows: { derived: { status: "in_fulfilment", fulfilmentStatus: "shipped", paymentStatus: "voided" } },
    },
    {
      says: "a reversed capture can be captured anew",
      given: [...withAuthorization, captured("c-1", "a-1", 1000), failed("capture", "c-1")],
      when: captured("c-2", "a-1", 1000),
      then: "applied",
      shows: { totals: { capturedMinor: 1000 } },
    },
  ]);
});
