import { MAX_EVENT_BYTES } from "@junban/orders";
import { describe, expect, test } from "vitest";
import {
  added,
  cancelled,
  cancelRequested,
  changed,
  event,
  line,
  placed,
  removed,
  reserved,
  sale,
  shipped,
} from "./events.ts";
import { checkTransitions } from "./transitions.ts";

const two = placed([line("L1", 4), line("L2", 2)]);
const shipsThree = [sale("c-1", 600), reserved("r-1", "L1", 4), shipped("s-1", { L1: 3 })];
const manyLines = Array.from({ length: 200 }, (_, index) => line(`L${index}`, 1));

describe("order.placed", () => {
  checkTransitions([
    {
      says: "sets everything there is to an order",
      given: [],
      when: placed([line("L1", 4, 250)], { adjustment: -100, shipGate: "authorized" }),
      gives: "applied",
      shows: {
        totals: {
          placed: true,
          cancelled: false,
          currency: "JPY",
          shipGate: "authorized",
          adjustmentMinor: -100,
        },
        lines: {
          L1: { sku: "SKU-L1", unitAmountMinor: 250, addedQuantity: 4, quantity: 4, peak: 4, cancelled: 0 },
        },
        derived: { status: "placed", payableMinor: 900 },
      },
    },
    {
      says: "again with the same data",
      given: [two],
      when: placed([line("L1", 4), line("L2", 2)]),
      gives: "duplicate",
    },
    {
      says: "again with other data",
      given: [two],
      when: placed([line("L1", 4)]),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "again with the same data on a cancelled order",
      given: [two, ...cancelled("k-1")],
      when: two,
      gives: "duplicate",
    },
    {
      says: "a total of 10^12 is the highest",
      given: [],
      when: placed([line("L1", 1000, 1_000_000_000)]),
      gives: "applied",
      shows: { derived: { payableMinor: 1_000_000_000_000 } },
    },
    {
      says: "a total above 10^12",
      given: [],
      when: placed([line("L1", 1000, 1_000_000_000)], { adjustment: 1 }),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "a total below 0",
      given: [],
      when: placed([line("L1", 1)], { adjustment: -101 }),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "a total of 0 is the lowest, and is paid",
      given: [],
      when: placed([line("L1", 1)], { adjustment: -100 }),
      gives: "applied",
      shows: { derived: { payableMinor: 0, paymentStatus: "paid", status: "confirmed" } },
    },
    {
      says: "more than 200 lines",
      given: [],
      when: placed([...manyLines, line("L200", 1)]),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
  ]);

  test("an order of 200 lines with references of 64 characters fits into one event", () => {
    const longest = Array.from({ length: 200 }, (_, index) => ({
      ...line(String(index).padStart(64, "x"), 9_999, 500_000),
      sku: "s".repeat(64),
    }));
    const text = JSON.stringify(placed(longest));
    expect(text.length).toBeLessThan(MAX_EVENT_BYTES);
  });
});

describe("line.added", () => {
  checkTransitions([
    { says: "before the order", given: [], when: added("L3", 1), gives: "deferred ORDER_NOT_FOUND" },
    {
      says: "a new line",
      given: [two],
      when: added("L3", 3),
      gives: "applied",
      shows: { lines: { L3: { quantity: 3, peak: 3, addedQuantity: 3 } }, derived: { payableMinor: 900 } },
    },
    { says: "a line that exists with the same data", given: [two], when: added("L1", 4), gives: "duplicate" },
    {
      says: "another quantity for a line that exists",
      given: [two],
      when: added("L1", 5),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "another price for a line that exists",
      given: [two],
      when: added("L1", 4, 101),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "another article for a line that exists",
      given: [two],
      when: event("line.added", { lineId: "L1", sku: "other", quantity: 4, unitAmount: 100 }),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "a repeat is compared with what was added, not with what became of it",
      given: [two, changed("ch-1", "L1", [4, 9])],
      when: added("L1", 4),
      gives: "duplicate",
    },
    {
      says: "today's quantity under a line that was added with another",
      given: [two, changed("ch-1", "L1", [4, 9])],
      when: added("L1", 9),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "on a cancelled order",
      given: [two, ...cancelled("k-1")],
      when: added("L3", 1),
      gives: "rejected ORDER_CANCELLED",
    },
    {
      says: "known already on a cancelled order",
      given: [two, ...cancelled("k-1")],
      when: added("L1", 4),
      gives: "duplicate",
    },
    {
      says: "a 201st line",
      given: [placed(manyLines)],
      when: added("L200", 1),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "a 200th line",
      given: [placed(manyLines.slice(1))],
      when: added("L200", 1),
      gives: "applied",
    },
    {
      says: "a line that lifts the total above 10^12",
      given: [placed([line("L1", 1000, 1_000_000_000)])],
      when: added("L2", 1, 1),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "reopens a completed order",
      given: [placed([line("L1", 1)]), sale("c-1", 100), reserved("r-1", "L1", 1), shipped("s-1", { L1: 1 })],
      when: added("L2", 1),
      gives: "applied",
      shows: {
        derived: {
          status: "in_fulfilment",
          fulfilmentStatus: "partially_shipped",
          paymentStatus: "partially_captured",
        },
      },
    },
  ]);
});

describe("line.quantity_changed", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: changed("ch-1", "L1", [4, 5]),
      gives: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "of an unknown line",
      given: [two],
      when: changed("ch-1", "L9", [4, 5]),
      gives: "deferred LINE_NOT_FOUND",
    },
    {
      says: "from another quantity",
      given: [two],
      when: changed("ch-1", "L1", [3, 5]),
      gives: "deferred LINE_PRECONDITION",
    },
    {
      says: "upwards raises the peak",
      given: [two],
      when: changed("ch-1", "L1", [4, 6]),
      gives: "applied",
      shows: { lines: { L1: { quantity: 6, peak: 6, addedQuantity: 4 } }, derived: { payableMinor: 800 } },
    },
    {
      says: "downwards keeps the peak",
      given: [two],
      when: changed("ch-1", "L1", [4, 1]),
      gives: "applied",
      shows: { lines: { L1: { quantity: 1, peak: 4 } }, derived: { payableMinor: 300 } },
    },
    {
      says: "down to what was shipped",
      given: [two, ...shipsThree],
      when: changed("ch-1", "L1", [4, 3]),
      gives: "applied",
    },
    {
      says: "below what was shipped",
      given: [two, ...shipsThree],
      when: changed("ch-1", "L1", [4, 2]),
      gives: "rejected BELOW_SHIPPED",
    },
    {
      says: "below what was cancelled",
      given: [two, ...cancelled("k-1", { L1: 3 })],
      when: changed("ch-1", "L1", [4, 2]),
      gives: "rejected BELOW_CANCELLED",
    },
    {
      says: "below shipped and cancelled together",
      given: [
        two,
        sale("c-1", 600),
        reserved("r-1", "L1", 4),
        shipped("s-1", { L1: 2 }),
        ...cancelled("k-1", { L1: 1 }),
      ],
      when: changed("ch-1", "L1", [4, 2]),
      gives: "rejected BELOW_SHIPPED",
    },
    {
      says: "down to what was cancelled while another line is active",
      given: [two, ...cancelled("k-1", { L1: 3 })],
      when: changed("ch-1", "L1", [4, 3]),
      gives: "applied",
    },
    {
      says: "down to what was cancelled of the only active line",
      given: [placed([line("L1", 4)]), ...cancelled("k-1", { L1: 3 })],
      when: changed("ch-1", "L1", [4, 3]),
      gives: "deferred WOULD_EMPTY_ORDER",
    },
    {
      says: "on a cancelled order",
      given: [two, ...cancelled("k-1")],
      when: changed("ch-1", "L1", [4, 5]),
      gives: "rejected ORDER_CANCELLED",
    },
    {
      says: "while a cancel of the order is only requested",
      given: [two, cancelRequested("k-1")],
      when: changed("ch-1", "L1", [4, 5]),
      gives: "applied",
      shows: { derived: { status: "cancel_requested" } },
    },
    {
      says: "again with the same data, though the quantity is another by now",
      given: [two, changed("ch-1", "L1", [4, 5])],
      when: changed("ch-1", "L1", [4, 5]),
      gives: "duplicate",
    },
    {
      says: "another change under a used changeId",
      given: [two, changed("ch-1", "L1", [4, 5])],
      when: changed("ch-1", "L1", [5, 6]),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "a total above 10^12",
      given: [placed([line("L1", 1000, 1_000_000_000)])],
      when: changed("ch-1", "L1", [1000, 1001]),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "a total below 0, because the discount stays",
      given: [placed([line("L1", 4)], { adjustment: -300 })],
      when: changed("ch-1", "L1", [4, 2]),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "a removed line comes back",
      given: [two, removed("ch-1", "L1", 4)],
      when: changed("ch-2", "L1", [0, 2]),
      gives: "applied",
      shows: { lines: { L1: { quantity: 2, peak: 4 } } },
    },
  ]);
});

describe("line.removed", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: removed("ch-1", "L1", 4),
      gives: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "of an unknown line",
      given: [two],
      when: removed("ch-1", "L9", 4),
      gives: "deferred LINE_NOT_FOUND",
    },
    {
      says: "from another quantity",
      given: [two],
      when: removed("ch-1", "L1", 3),
      gives: "deferred LINE_PRECONDITION",
    },
    {
      says: "one of two lines",
      given: [two],
      when: removed("ch-1", "L1", 4),
      gives: "applied",
      shows: { lines: { L1: { quantity: 0, peak: 4 } }, derived: { payableMinor: 200 } },
    },
    {
      says: "leaves what was cancelled of the line on record",
      given: [two, ...cancelled("k-1", { L1: 1 })],
      when: removed("ch-1", "L1", 4),
      gives: "applied",
      shows: { lines: { L1: { quantity: 1, cancelled: 1 } }, derived: { payableMinor: 200 } },
    },
    {
      says: "after some was shipped",
      given: [two, ...shipsThree],
      when: removed("ch-1", "L1", 4),
      gives: "rejected BELOW_SHIPPED",
    },
    {
      says: "the only line",
      given: [placed([line("L1", 4)])],
      when: removed("ch-1", "L1", 4),
      gives: "deferred WOULD_EMPTY_ORDER",
    },
    {
      says: "the last active line beside a removed one",
      given: [two, removed("ch-1", "L1", 4)],
      when: removed("ch-2", "L2", 2),
      gives: "deferred WOULD_EMPTY_ORDER",
    },
    {
      says: "on a cancelled order",
      given: [two, ...cancelled("k-1")],
      when: removed("ch-1", "L1", 4),
      gives: "rejected ORDER_CANCELLED",
    },
    {
      says: "again with the same data",
      given: [two, removed("ch-1", "L1", 4)],
      when: removed("ch-1", "L1", 4),
      gives: "duplicate",
    },
    {
      says: "under the changeId of a quantity change",
      given: [two, changed("ch-1", "L1", [4, 5])],
      when: removed("ch-1", "L1", 4),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "a total below 0",
      given: [placed([line("L1", 4), line("L2", 1)], { adjustment: -200 })],
      when: removed("ch-1", "L1", 4),
      gives: "rejected TOTAL_OUT_OF_RANGE",
    },
    {
      says: "gives back what was reserved for it",
      given: [two, reserved("r-1", "L1", 4)],
      when: removed("ch-1", "L1", 4),
      gives: "applied",
      shows: { derived: { releaseDue: 4 } },
    },
  ]);
});
