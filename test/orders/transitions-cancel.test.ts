import { describe } from "vitest";
import {
  added,
  cancelConfirmed,
  cancelled,
  cancelRejected,
  cancelRequested,
  changed,
  line,
  placed,
  reserved,
  sale,
  shipped,
} from "./events.ts";
import { checkTransitions } from "./transitions.ts";

const order = placed([line("L1", 4), line("L2", 2)]);
const withCancel = [order, ...cancelled("k-1")];
const shipsThree = [order, sale("c-1", 600), reserved("r-1", "L1", 4), shipped("s-1", { L1: 3 })];

describe("cancel.requested", () => {
  checkTransitions([
    { says: "before the order", given: [], when: cancelRequested("k-1"), gives: "deferred ORDER_NOT_FOUND" },
    {
      says: "for the whole order",
      given: [order],
      when: cancelRequested("k-1"),
      gives: "applied",
      shows: {
        totals: { openCancels: 1, cancelled: false },
        derived: { status: "cancel_requested", payableMinor: 600 },
      },
    },
    {
      says: "for some pieces",
      given: [order],
      when: cancelRequested("k-1", { L1: 1 }),
      gives: "applied",
      shows: { totals: { openCancels: 0 }, lines: { L1: { cancelled: 0 } }, derived: { status: "placed" } },
    },
    {
      says: "for an unknown line",
      given: [order],
      when: cancelRequested("k-1", { L1: 1, L9: 1 }),
      gives: "deferred LINE_NOT_FOUND",
    },
    {
      says: "for an unknown line of a cancelled order",
      given: withCancel,
      when: cancelRequested("k-2", { L9: 1 }),
      gives: "deferred LINE_NOT_FOUND",
    },
    {
      says: "on a cancelled order",
      given: withCancel,
      when: cancelRequested("k-2"),
      gives: "applied",
      shows: { derived: { status: "cancelled" } },
    },
    {
      says: "after something was shipped",
      given: shipsThree,
      when: cancelRequested("k-1"),
      gives: "applied",
      shows: { derived: { status: "in_fulfilment" } },
    },
    {
      says: "again with the same data",
      given: [order, cancelRequested("k-1")],
      when: cancelRequested("k-1"),
      gives: "duplicate",
    },
    {
      says: "again with another scope",
      given: [order, cancelRequested("k-1")],
      when: cancelRequested("k-1", { L1: 1 }),
      gives: "rejected REF_CONFLICT",
    },
  ]);
});

describe("cancel.confirmed for the whole order", () => {
  checkTransitions([
    { says: "before the order", given: [], when: cancelConfirmed("k-1"), gives: "deferred ORDER_NOT_FOUND" },
    {
      says: "before the request",
      given: [order],
      when: cancelConfirmed("k-1"),
      gives: "deferred CANCEL_NOT_REQUESTED",
    },
    {
      says: "before the request on a cancelled order",
      given: withCancel,
      when: cancelConfirmed("k-2"),
      gives: "deferred CANCEL_NOT_REQUESTED",
    },
    {
      says: "cancels every line and marks the order",
      given: [order, sale("c-1", 600), cancelRequested("k-1")],
      when: cancelConfirmed("k-1"),
      gives: "applied",
      shows: {
        totals: { cancelled: true, openCancels: 0 },
        lines: { L1: { quantity: 4, cancelled: 4 }, L2: { quantity: 2, cancelled: 2 } },
        derived: { status: "cancelled", fulfilmentStatus: "cancelled", payableMinor: 0, refundDueMinor: 600 },
      },
    },
    {
      says: "an adjustment is not payable either",
      given: [placed([line("L1", 1)], { adjustment: 50 }), cancelRequested("k-1")],
      when: cancelConfirmed("k-1"),
      gives: "applied",
      shows: { derived: { payableMinor: 0 } },
    },
    {
      says: "a discount does not stand in the way",
      given: [placed([line("L1", 1)], { adjustment: -50 }), cancelRequested("k-1")],
      when: cancelConfirmed("k-1"),
      gives: "applied",
      shows: { derived: { payableMinor: 0 } },
    },
    {
      says: "after something was shipped",
      given: [...shipsThree, cancelRequested("k-1")],
      when: cancelConfirmed("k-1"),
      gives: "rejected ALREADY_SHIPPED",
    },
    {
      says: "a second cancel of the order",
      given: [...withCancel, cancelRequested("k-2")],
      when: cancelConfirmed("k-2"),
      gives: "rejected ALREADY_CANCELLED",
    },
    {
      says: "after the request was refused",
      given: [order, cancelRequested("k-1"), cancelRejected("k-1")],
      when: cancelConfirmed("k-1"),
      gives: "rejected CANCEL_CLOSED",
    },
    {
      says: "a refused request on an order cancelled since",
      given: [order, cancelRequested("k-0"), cancelRejected("k-0"), ...cancelled("k-1")],
      when: cancelConfirmed("k-0"),
      gives: "rejected CANCEL_CLOSED",
    },
    { says: "again", given: withCancel, when: cancelConfirmed("k-1"), gives: "duplicate" },
    {
      says: "counts what was cancelled in part before",
      given: [order, ...cancelled("k-1", { L1: 3 }), cancelRequested("k-2")],
      when: cancelConfirmed("k-2"),
      gives: "applied",
      shows: { lines: { L1: { cancelled: 4 }, L2: { cancelled: 2 } } },
    },
  ]);
});

describe("cancel.confirmed for some pieces", () => {
  checkTransitions([
    {
      says: "cancels them",
      given: [order, cancelRequested("k-1", { L1: 3, L2: 2 })],
      when: cancelConfirmed("k-1"),
      gives: "applied",
      shows: {
        totals: { cancelled: false },
        lines: { L1: { quantity: 4, cancelled: 3 }, L2: { quantity: 2, cancelled: 2 } },
        derived: { payableMinor: 100, status: "placed" },
      },
    },
    {
      says: "adds to what was cancelled",
      given: [order, ...cancelled("k-1", { L1: 1 }), cancelRequested("k-2", { L1: 2 })],
      when: cancelConfirmed("k-2"),
      gives: "applied",
      shows: { lines: { L1: { cancelled: 3 } } },
    },
    {
      says: "more than is active",
      given: [order, ...cancelled("k-1", { L1: 3 }), cancelRequested("k-2", { L1: 2 })],
      when: cancelConfirmed("k-2"),
      gives: "deferred EXCEEDS_ORDERED",
    },
    {
      says: "more than the line was lowered to",
      given: [order, cancelRequested("k-1", { L1: 3 }), changed("ch-1", "L1", [4, 2])],
      when: cancelConfirmed("k-1"),
      gives: "deferred EXCEEDS_ORDERED",
    },
    {
      says: "what was shipped",
      given: [...shipsThree, cancelRequested("k-1", { L1: 2 })],
      when: cancelConfirmed("k-1"),
      gives: "rejected ALREADY_SHIPPED",
    },
    {
      says: "what was not shipped",
      given: [...shipsThree, cancelRequested("k-1", { L1: 1 })],
      when: cancelConfirmed("k-1"),
      gives: "applied",
    },
    {
      says: "everything that is left",
      given: [order, cancelRequested("k-1", { L1: 4, L2: 2 })],
      when: cancelConfirmed("k-1"),
      gives: "deferred WOULD_EMPTY_ORDER",
    },
    {
      says: "everything but a line added meanwhile",
      given: [order, cancelRequested("k-1", { L1: 4, L2: 2 }), added("L3", 1)],
      when: cancelConfirmed("k-1"),
      gives: "applied",
      shows: { derived: { payableMinor: 100 } },
    },
    {
      says: "a total below 0, because the discount stays",
      given: [placed([line("L1", 4)], { adjustment: -200 }), cancelRequested("k-1", { L1: 3 })],
      when: cancelConfirmed("k-1"),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "on a cancelled order",
      given: [...withCancel, cancelRequested("k-2", { L1: 1 })],
      when: cancelConfirmed("k-2"),
      gives: "rejected ALREADY_CANCELLED",
    },
    {
      says: "again",
      given: [order, ...cancelled("k-1", { L1: 1 })],
      when: cancelConfirmed("k-1"),
      gives: "duplicate",
    },
    {
      says: "leaves an open cancel of the order open",
      given: [order, cancelRequested("k-1"), cancelRequested("k-2", { L1: 1 })],
      when: cancelConfirmed("k-2"),
      gives: "applied",
      shows: { totals: { openCancels: 1 }, derived: { status: "cancel_requested" } },
    },
  ]);
});

describe("cancel.rejected", () => {
  checkTransitions([
    { says: "before the order", given: [], when: cancelRejected("k-1"), gives: "deferred ORDER_NOT_FOUND" },
    {
      says: "before the request",
      given: [order],
      when: cancelRejected("k-1"),
      gives: "deferred CANCEL_NOT_REQUESTED",
    },
    {
      says: "closes the request",
      given: [order, cancelRequested("k-1")],
      when: cancelRejected("k-1"),
      gives: "applied",
      shows: { totals: { openCancels: 0, cancelled: false }, derived: { status: "placed" } },
    },
    {
      says: "closes a request for some pieces",
      given: [order, cancelRequested("k-1"), cancelRequested("k-2", { L1: 1 })],
      when: cancelRejected("k-2"),
      gives: "applied",
      shows: { totals: { openCancels: 1 } },
    },
    {
      says: "after it was granted",
      given: [order, ...cancelled("k-1", { L1: 1 })],
      when: cancelRejected("k-1"),
      gives: "rejected CANCEL_CLOSED",
    },
    {
      says: "after it was granted for the order",
      given: withCancel,
      when: cancelRejected("k-1"),
      gives: "rejected CANCEL_CLOSED",
    },
    {
      says: "another request on a cancelled order",
      given: [...withCancel, cancelRequested("k-2")],
      when: cancelRejected("k-2"),
      gives: "applied",
      shows: { totals: { openCancels: 0 }, derived: { status: "cancelled" } },
    },
    {
      says: "again",
      given: [order, cancelRequested("k-1"), cancelRejected("k-1")],
      when: cancelRejected("k-1"),
      gives: "duplicate",
    },
  ]);
});
