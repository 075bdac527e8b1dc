import { describe } from "vitest";
import {
  authorized,
  cancelled,
  captured,
  failed,
  line,
  placed,
  refunded,
  reserved,
  sale,
  shipped,
} from "./events.ts";
import { checkTransitions } from "./transitions.ts";

const order = placed([line("L1", 10)]);
const withAuthorization = [order, authorized("a-1", 1000)];
const withCapture = [...withAuthorization, captured("c-1", "a-1", 600)];

describe("payment.refunded", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: refunded("f-1", "c-1", 1),
      gives: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "in another currency",
      given: withCapture,
      when: refunded("f-1", "c-1", 1, "USD"),
      gives: "rejected CURRENCY_MISMATCH",
    },
    {
      says: "before its capture",
      given: withAuthorization,
      when: refunded("f-1", "c-1", 1),
      gives: "deferred CAPTURE_NOT_SEEN",
    },
    {
      says: "a part",
      given: withCapture,
      when: refunded("f-1", "c-1", 200),
      gives: "applied",
      shows: {
        totals: { capturedMinor: 600, refundedMinor: 200 },
        derived: { paymentStatus: "partially_refunded" },
      },
    },
    {
      says: "everything",
      given: withCapture,
      when: refunded("f-1", "c-1", 600),
      gives: "applied",
      shows: { derived: { paymentStatus: "refunded" } },
    },
    {
      says: "more than the capture has left",
      given: [...withCapture, refunded("f-1", "c-1", 200)],
      when: refunded("f-2", "c-1", 401),
      gives: "rejected OVER_REFUND",
    },
    {
      says: "more than one capture has, though another has it",
      given: [...withCapture, captured("c-2", "a-1", 400)],
      when: refunded("f-1", "c-2", 401),
      gives: "rejected OVER_REFUND",
    },
    {
      says: "of a reversed capture",
      given: [...withCapture, failed("capture", "c-1")],
      when: refunded("f-1", "c-1", 1),
      gives: "rejected CAPTURE_REVERSED",
    },
    {
      says: "on a cancelled order",
      given: [...withCapture, ...cancelled("k-1")],
      when: refunded("f-1", "c-1", 600),
      gives: "applied",
      shows: { derived: { refundDueMinor: 0, paymentStatus: "refunded", voidDueMinor: 400 } },
    },
    {
      says: "again with the same data",
      given: [...withCapture, refunded("f-1", "c-1", 9)],
      when: refunded("f-1", "c-1", 9),
      gives: "duplicate",
    },
    {
      says: "again with another amount",
      given: [...withCapture, refunded("f-1", "c-1", 9)],
      when: refunded("f-1", "c-1", 8),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "reported failed before, it counts as reversed",
      given: [...withCapture, failed("refund", "f-1")],
      when: refunded("f-1", "c-1", 600),
      gives: "applied",
      shows: {
        totals: { refundedMinor: 0, paymentFailures: 1 },
        derived: { paymentStatus: "partially_captured" },
      },
    },
    {
      says: "a reversed refund leaves the capture whole",
      given: [...withCapture, failed("refund", "f-1"), refunded("f-1", "c-1", 600)],
      when: refunded("f-2", "c-1", 600),
      gives: "applied",
    },
  ]);
});

describe("payment.failed", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: failed("authorization", "a-1"),
      gives: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "an attempt nobody knows",
      given: [order],
      when: failed("authorization", "a-1"),
      gives: "applied",
      shows: { totals: { paymentFailures: 1 }, derived: { paymentStatus: "failed" } },
    },
    {
      says: "of an authorization that succeeded",
      given: withAuthorization,
      when: failed("authorization", "a-1"),
      gives: "rejected STALE_FAILURE",
    },
    {
      says: "of another attempt",
      given: withAuthorization,
      when: failed("authorization", "a-2"),
      gives: "applied",
      shows: { totals: { paymentFailures: 1 }, derived: { paymentStatus: "authorized" } },
    },
    {
      says: "of a capture reverses it and reopens its authorization",
      given: withCapture,
      when: failed("capture", "c-1"),
      gives: "applied",
      shows: {
        totals: { capturedMinor: 0, voidedMinor: 0, paymentFailures: 1 },
        derived: { openMinor: 1000, paymentStatus: "authorized" },
      },
    },
    {
      says: "of a sale reverses it and closes its authorization",
      given: [order, sale("c-1", 1000)],
      when: failed("capture", "c-1"),
      gives: "applied",
      shows: {
        totals: { authorizedMinor: 1000, capturedMinor: 0, voidedMinor: 1000 },
        derived: { openMinor: 0, paymentStatus: "voided" },
      },
    },
    {
      says: "of a capture that was refunded in part",
      given: [...withCapture, refunded("f-1", "c-1", 1)],
      when: failed("capture", "c-1"),
      gives: "rejected REVERSAL_AFTER_REFUND",
    },
    {
      says: "of a capture whose refund failed too",
      given: [...withCapture, refunded("f-1", "c-1", 1), failed("refund", "f-1")],
      when: failed("capture", "c-1"),
      gives: "applied",
      shows: { totals: { capturedMinor: 0, refundedMinor: 0 } },
    },
    {
      says: "of a refund reverses it",
      given: [...withCapture, refunded("f-1", "c-1", 600)],
      when: failed("refund", "f-1"),
      gives: "applied",
      shows: {
        totals: { capturedMinor: 600, refundedMinor: 0 },
        derived: { paymentStatus: "partially_captured" },
      },
    },
    {
      says: "of a capture nobody knows",
      given: [order],
      when: failed("capture", "c-9"),
      gives: "applied",
      shows: { totals: { capturedMinor: 0, paymentFailures: 1 } },
    },
    {
      says: "of a refund nobody knows",
      given: withCapture,
      when: failed("refund", "f-9"),
      gives: "applied",
      shows: { totals: { capturedMinor: 600, refundedMinor: 0, paymentFailures: 1 } },
    },
    {
      says: "again with the same data",
      given: [...withCapture, failed("capture", "c-1")],
      when: failed("capture", "c-1"),
      gives: "duplicate",
    },
    {
      says: "again with another code",
      given: [...withCapture, failed("capture", "c-1")],
      when: failed("capture", "c-1", "expired card"),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "one reference may fail at two stages",
      given: [order, failed("capture", "x-1")],
      when: failed("refund", "x-1"),
      gives: "applied",
      shows: { totals: { paymentFailures: 2 } },
    },
    {
      says: "on a cancelled order a reversal is applied too",
      given: [...withCapture, ...cancelled("k-1")],
      when: failed("capture", "c-1"),
      gives: "applied",
      shows: { derived: { refundDueMinor: 0, voidDueMinor: 1000 } },
    },
    {
      says: "of a capture reopens a completed order",
      given: [order, sale("c-1", 1000), reserved("r-1", "L1", 10), shipped("s-1", { L1: 10 })],
      when: failed("capture", "c-1"),
      gives: "applied",
      shows: { derived: { status: "in_fulfilment", fulfilmentStatus: "shipped", paymentStatus: "voided" } },
    },
    {
      says: "a reversed capture can be captured anew",
      given: [...withAuthorization, captured("c-1", "a-1", 1000), failed("capture", "c-1")],
      when: captured("c-2", "a-1", 1000),
      gives: "applied",
      shows: { totals: { capturedMinor: 1000 } },
    },
  ]);
});
