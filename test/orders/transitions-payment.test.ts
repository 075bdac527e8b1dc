import { describe } from "vitest";
import { authorized, cancelled, captured, event, failed, line, placed, sale, voided } from "./events.ts";
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
    { says: "before the order", given: [], when: authorized("a-1", 1000), gives: "deferred ORDER_NOT_FOUND" },
    {
      says: "in another currency",
      given: [order],
      when: authorized("a-1", 1000, "USD"),
      gives: "rejected CURRENCY_MISMATCH",
    },
    {
      says: "all of it",
      given: [order],
      when: authorized("a-1", 1000),
      gives: "applied",
      shows: {
        totals: { authorizedMinor: 1000 },
        derived: { openMinor: 1000, paymentStatus: "authorized", voidDueMinor: 0 },
      },
    },
    {
      says: "less than the order costs",
      given: [order],
      when: authorized("a-1", 999),
      gives: "applied",
      shows: { derived: { paymentStatus: "partially_authorized" } },
    },
    {
      says: "more than the order costs",
      given: [order],
      when: authorized("a-1", 1200),
      gives: "applied",
      shows: { derived: { voidDueMinor: 200 } },
    },
    {
      says: "on a cancelled order",
      given: [order, ...cancelled("k-1")],
      when: authorized("a-1", 1000),
      gives: "applied",
      shows: { derived: { voidDueMinor: 1000, status: "cancelled" } },
    },
    {
      says: "again with the same data",
      given: withAuthorization,
      when: authorized("a-1", 1000),
      gives: "duplicate",
    },
    {
      says: "again with another amount",
      given: withAuthorization,
      when: authorized("a-1", 999),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "again in another currency is a conflict before it is a mismatch",
      given: withAuthorization,
      when: authorized("a-1", 1000, "USD"),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "a sum that integers cannot hold",
      given: [order, ...nearlyTooMuch],
      when: authorized("a-1", HUGE),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "after a failed attempt under the same reference",
      given: [order, failed("authorization", "a-1")],
      when: authorized("a-1", 1000),
      gives: "applied",
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
      gives: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "in another currency",
      given: withAuthorization,
      when: captured("c-1", "a-1", 600, "USD"),
      gives: "rejected CURRENCY_MISMATCH",
    },
    {
      says: "before its authorization",
      given: [order],
      when: captured("c-1", "a-1", 600),
      gives: "deferred AUTHORIZATION_NOT_SEEN",
    },
    {
      says: "before its authorization on a cancelled order",
      given: [order, ...cancelled("k-1")],
      when: captured("c-1", "a-1", 600),
      gives: "deferred AUTHORIZATION_NOT_SEEN",
    },
    {
      says: "a part",
      given: withAuthorization,
      when: captured("c-1", "a-1", 600),
      gives: "applied",
      shows: {
        totals: { authorizedMinor: 1000, capturedMinor: 600 },
        derived: { openMinor: 400, paymentStatus: "partially_captured" },
      },
    },
    {
      says: "the rest",
      given: withCapture,
      when: captured("c-2", "a-1", 400),
      gives: "applied",
      shows: { derived: { paymentStatus: "paid", status: "confirmed", openMinor: 0 } },
    },
    {
      says: "more than is left",
      given: withCapture,
      when: captured("c-2", "a-1", 401),
      gives: "rejected OVER_CAPTURE",
    },
    {
      says: "more than is left after a partial void",
      given: [...withAuthorization, voided("v-1", "a-1", 500)],
      when: captured("c-1", "a-1", 501),
      gives: "rejected OVER_CAPTURE",
    },
    {
      says: "after the rest was voided",
      given: [...withCapture, voided("v-1", "a-1", 400)],
      when: captured("c-2", "a-1", 1),
      gives: "rejected AUTHORIZATION_CLOSED",
    },
    {
      says: "after everything was captured, nothing voided",
      given: [...withAuthorization, captured("c-1", "a-1", 1000)],
      when: captured("c-2", "a-1", 1),
      gives: "rejected OVER_CAPTURE",
    },
    {
      says: "on a cancelled order",
      given: isCancelled,
      when: captured("c-1", "a-1", 600),
      gives: "applied",
      shows: {
        derived: { refundDueMinor: 600, paymentStatus: "refund_due", voidDueMinor: 400, status: "cancelled" },
      },
    },
    {
      says: "too much on a cancelled order",
      given: isCancelled,
      when: captured("c-1", "a-1", 1001),
      gives: "rejected OVER_CAPTURE",
    },
    {
      says: "again with the same data",
      given: withCapture,
      when: captured("c-1", "a-1", 600),
      gives: "duplicate",
    },
    {
      says: "again with another amount",
      given: withCapture,
      when: captured("c-1", "a-1", 400),
      gives: "rejected REF_CONFLICT",
    },
    { says: "again as a sale", given: withCapture, when: sale("c-1", 600), gives: "rejected REF_CONFLICT" },
    {
      says: "reported failed before, it counts as reversed",
      given: [...withAuthorization, failed("capture", "c-1")],
      when: captured("c-1", "a-1", 600),
      gives: "applied",
      shows: {
        totals: { capturedMinor: 0, voidedMinor: 0, paymentFailures: 1 },
        derived: { openMinor: 1000, paymentStatus: "authorized" },
      },
    },
    {
      says: "another stage's failure under the same reference is not its own",
      given: [...withAuthorization, failed("refund", "c-1")],
      when: captured("c-1", "a-1", 600),
      gives: "applied",
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
      gives: "applied",
      shows: {
        totals: { authorizedMinor: 1000, capturedMinor: 1000, voidedMinor: 0 },
        derived: { openMinor: 0, paymentStatus: "paid" },
      },
    },
    {
      says: "its authorization cannot be captured from",
      given: [order, sale("c-1", 1000)],
      when: captured("c-2", "c-1", 1),
      gives: "deferred AUTHORIZATION_NOT_SEEN",
    },
    {
      says: "its authorization cannot fail under the sale's name",
      given: [order, sale("c-1", 1000)],
      when: failed("authorization", "c-1"),
      gives: "applied",
      shows: { totals: { capturedMinor: 1000 }, derived: { paymentStatus: "paid" } },
    },
    {
      says: "reported failed before, it counts as reversed and its authorization as closed",
      given: [order, failed("capture", "c-1")],
      when: sale("c-1", 1000),
      gives: "applied",
      shows: {
        totals: { authorizedMinor: 1000, capturedMinor: 0, voidedMinor: 1000 },
        derived: { openMinor: 0, paymentStatus: "voided" },
      },
    },
    {
      says: "a sum that integers cannot hold",
      given: [order, ...nearlyTooMuch],
      when: sale("c-1", HUGE),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "on a cancelled order",
      given: [order, ...cancelled("k-1")],
      when: sale("c-1", 1000),
      gives: "applied",
      shows: { derived: { refundDueMinor: 1000 } },
    },
  ]);
});

describe("payment.voided", () => {
  checkTransitions([
    { says: "before the order", given: [], when: voided("v-1", "a-1", 1), gives: "deferred ORDER_NOT_FOUND" },
    {
      says: "before its authorization",
      given: [order],
      when: voided("v-1", "a-1", 1),
      gives: "deferred AUTHORIZATION_NOT_SEEN",
    },
    {
      says: "what is left",
      given: withCapture,
      when: voided("v-1", "a-1", 400),
      gives: "applied",
      shows: { totals: { capturedMinor: 600, voidedMinor: 400 }, derived: { openMinor: 0 } },
    },
    {
      says: "everything",
      given: withAuthorization,
      when: voided("v-1", "a-1", 1000),
      gives: "applied",
      shows: { derived: { paymentStatus: "voided" } },
    },
    {
      says: "more than is left",
      given: withCapture,
      when: voided("v-1", "a-1", 401),
      gives: "rejected VOID_EXCEEDS_OPEN",
    },
    {
      says: "more than an earlier void left",
      given: [...withAuthorization, voided("v-1", "a-1", 1000)],
      when: voided("v-2", "a-1", 1),
      gives: "rejected VOID_EXCEEDS_OPEN",
    },
    {
      says: "on a cancelled order",
      given: isCancelled,
      when: voided("v-1", "a-1", 1000),
      gives: "applied",
      shows: { derived: { voidDueMinor: 0 } },
    },
    {
      says: "too much on a cancelled order",
      given: isCancelled,
      when: voided("v-1", "a-1", 1001),
      gives: "rejected VOID_EXCEEDS_OPEN",
    },
    {
      says: "again with the same data",
      given: [...withAuthorization, voided("v-1", "a-1", 9)],
      when: voided("v-1", "a-1", 9),
      gives: "duplicate",
    },
    {
      says: "again with another reason",
      given: [...withAuthorization, voided("v-1", "a-1", 9)],
      when: event("payment.voided", { voidId: "v-1", authorizationId: "a-1", amount: 9, reason: "expired" }),
      gives: "rejected REF_CONFLICT",
    },
  ]);
});
