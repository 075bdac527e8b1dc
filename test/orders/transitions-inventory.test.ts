import { describe } from "vitest";
import { cancelled, changed, line, placed, released, reserved, sale, shipped, short } from "./events.ts";
import { checkTransitions } from "./transitions.ts";

const order = placed([line("L1", 4), line("L2", 2)]);
const withCancel = [order, ...cancelled("k-1")];
const paid = [order, sale("c-1", 600)];
const ready = [...paid, reserved("r-1", "L1", 4), reserved("r-2", "L2", 2)];

describe("inventory.reserved", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: reserved("r-1", "L1", 1),
      gives: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "for an unknown line",
      given: [order],
      when: reserved("r-1", "L9", 1),
      gives: "deferred LINE_NOT_FOUND",
    },
    {
      says: "for an unknown line of a cancelled order",
      given: withCancel,
      when: reserved("r-1", "L9", 1),
      gives: "deferred LINE_NOT_FOUND",
    },
    {
      says: "to fill a shortage nobody reported",
      given: [order],
      when: reserved("r-1", "L1", 1, "h-1"),
      gives: "deferred SHORTAGE_NOT_SEEN",
    },
    {
      says: "to fill a shortage nobody reported of a cancelled order",
      given: withCancel,
      when: reserved("r-1", "L1", 9, "h-1"),
      gives: "deferred SHORTAGE_NOT_SEEN",
    },
    {
      says: "more than was ever ordered",
      given: [order],
      when: reserved("r-1", "L1", 5),
      gives: "deferred EXCEEDS_ORDERED",
    },
    {
      says: "more than was ever ordered of a cancelled order",
      given: withCancel,
      when: reserved("r-1", "L1", 5),
      gives: "rejected ORDER_CANCELLED",
    },
    {
      says: "as much as was ordered once, though it is less now",
      given: [order, changed("ch-1", "L1", [4, 1])],
      when: reserved("r-1", "L1", 4),
      gives: "applied",
      shows: { lines: { L1: { reserved: 4 } }, derived: { releaseDue: 3 } },
    },
    {
      says: "a part",
      given: [order],
      when: reserved("r-1", "L1", 3),
      gives: "applied",
      shows: {
        lines: { L1: { reserved: 3, released: 0 } },
        derived: { fulfilmentStatus: "partially_allocated", releaseDue: 0 },
      },
    },
    {
      says: "everything",
      given: [order, reserved("r-1", "L1", 4)],
      when: reserved("r-2", "L2", 2),
      gives: "applied",
      shows: { derived: { fulfilmentStatus: "allocated" } },
    },
    {
      says: "for a cancelled order",
      given: withCancel,
      when: reserved("r-1", "L1", 4),
      gives: "applied",
      shows: { derived: { releaseDue: 4, fulfilmentStatus: "cancelled" } },
    },
    {
      says: "fills its shortage as a whole",
      given: [order, short("h-1", "L1", 3)],
      when: reserved("r-1", "L1", 1, "h-1"),
      gives: "applied",
      shows: {
        lines: { L1: { reserved: 1, shortOpen: 0 } },
        derived: { fulfilmentStatus: "partially_allocated" },
      },
    },
    {
      says: "fills a shortage only once",
      given: [order, short("h-1", "L1", 3), short("h-2", "L1", 1), reserved("r-1", "L1", 1, "h-1")],
      when: reserved("r-2", "L1", 1, "h-1"),
      gives: "applied",
      shows: { lines: { L1: { reserved: 2, shortOpen: 1 } } },
    },
    {
      says: "fills a shortage of another line on that line",
      given: [order, short("h-1", "L2", 2)],
      when: reserved("r-1", "L1", 1, "h-1"),
      gives: "applied",
      shows: { lines: { L1: { reserved: 1, shortOpen: 0 }, L2: { reserved: 0, shortOpen: 0 } } },
    },
    {
      says: "again with the same data",
      given: [order, reserved("r-1", "L1", 1)],
      when: reserved("r-1", "L1", 1),
      gives: "duplicate",
    },
    {
      says: "again with another quantity",
      given: [order, reserved("r-1", "L1", 1)],
      when: reserved("r-1", "L1", 2),
      gives: "rejected REF_CONFLICT",
    },
    {
      says: "again for a shortage",
      given: [order, short("h-1", "L1", 1), reserved("r-1", "L1", 1)],
      when: reserved("r-1", "L1", 1, "h-1"),
      gives: "rejected REF_CONFLICT",
    },
  ]);
});

describe("inventory.short", () => {
  checkTransitions([
    { says: "before the order", given: [], when: short("h-1", "L1", 1), gives: "deferred ORDER_NOT_FOUND" },
    {
      says: "for an unknown line",
      given: [order],
      when: short("h-1", "L9", 1),
      gives: "deferred LINE_NOT_FOUND",
    },
    {
      says: "more than was ever ordered",
      given: [order],
      when: short("h-1", "L1", 5),
      gives: "deferred EXCEEDS_ORDERED",
    },
    {
      says: "some pieces",
      given: [order],
      when: short("h-1", "L1", 4),
      gives: "applied",
      shows: { lines: { L1: { shortOpen: 4 } }, derived: { fulfilmentStatus: "backordered" } },
    },
    {
      says: "for a line that is allocated all the same",
      given: [order, reserved("r-1", "L1", 4), reserved("r-2", "L2", 2)],
      when: short("h-1", "L1", 1),
      gives: "applied",
      shows: { lines: { L1: { shortOpen: 1 } }, derived: { fulfilmentStatus: "allocated" } },
    },
    {
      says: "of a cancelled order",
      given: withCancel,
      when: short("h-1", "L1", 1),
      gives: "applied",
      shows: { derived: { status: "cancelled", fulfilmentStatus: "cancelled", releaseDue: 0 } },
    },
    {
      says: "more than was ever ordered of a cancelled order",
      given: withCancel,
      when: short("h-1", "L1", 5),
      gives: "deferred EXCEEDS_ORDERED",
    },
    {
      says: "again with the same data",
      given: [order, short("h-1", "L1", 1)],
      when: short("h-1", "L1", 1),
      gives: "duplicate",
    },
    {
      says: "again for another line",
      given: [order, short("h-1", "L1", 1)],
      when: short("h-1", "L2", 1),
      gives: "rejected REF_CONFLICT",
    },
  ]);
});

describe("inventory.released", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: released("u-1", "r-1", 1),
      gives: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "before its reservation",
      given: [order],
      when: released("u-1", "r-1", 1),
      gives: "deferred RESERVATION_NOT_SEEN",
    },
    {
      says: "a part",
      given: [order, reserved("r-1", "L1", 4)],
      when: released("u-1", "r-1", 3),
      gives: "applied",
      shows: {
        lines: { L1: { reserved: 4, released: 3 } },
        derived: { fulfilmentStatus: "partially_allocated" },
      },
    },
    {
      says: "more than was reserved",
      given: [order, reserved("r-1", "L1", 3)],
      when: released("u-1", "r-1", 4),
      gives: "rejected OVER_RELEASE",
    },
    {
      says: "more than an earlier release left",
      given: [order, reserved("r-1", "L1", 3), released("u-1", "r-1", 2)],
      when: released("u-2", "r-1", 2),
      gives: "rejected OVER_RELEASE",
    },
    {
      says: "more than one reservation has, though another has it",
      given: [order, reserved("r-1", "L1", 1), reserved("r-2", "L1", 3)],
      when: released("u-1", "r-1", 2),
      gives: "rejected OVER_RELEASE",
    },
    {
      says: "what was shipped",
      given: [...ready, shipped("s-1", { L1: 3 })],
      when: released("u-1", "r-1", 2),
      gives: "deferred RELEASE_BELOW_SHIPPED",
    },
    {
      says: "what was not shipped",
      given: [...ready, shipped("s-1", { L1: 3 })],
      when: released("u-1", "r-1", 1),
      gives: "applied",
    },
    {
      says: "what a cancelled order held",
      given: [order, reserved("r-1", "L1", 4), ...cancelled("k-1")],
      when: released("u-1", "r-1", 4),
      gives: "applied",
      shows: { derived: { releaseDue: 0 } },
    },
    {
      says: "again with the same data",
      given: [order, reserved("r-1", "L1", 4), released("u-1", "r-1", 3)],
      when: released("u-1", "r-1", 3),
      gives: "duplicate",
    },
    {
      says: "again with another quantity",
      given: [order, reserved("r-1", "L1", 4), released("u-1", "r-1", 3)],
      when: released("u-1", "r-1", 1),
      gives: "rejected REF_CONFLICT",
    },
  ]);
});

describe("inventory.shipped", () => {
  checkTransitions([
    {
      says: "before the order",
      given: [],
      when: shipped("s-1", { L1: 1 }),
      gives: "deferred ORDER_NOT_FOUND",
    },
    {
      says: "an unknown line",
      given: ready,
      when: shipped("s-1", { L1: 1, L9: 1 }),
      gives: "deferred LINE_NOT_FOUND",
    },
    {
      says: "more than was ordered",
      given: ready,
      when: shipped("s-1", { L1: 5 }),
      gives: "deferred EXCEEDS_ORDERED",
    },
    {
      says: "more than was ordered, in two parcels",
      given: [...ready, shipped("s-1", { L1: 3 })],
      when: shipped("s-2", { L1: 2 }),
      gives: "deferred EXCEEDS_ORDERED",
    },
    {
      says: "what was cancelled",
      given: [...ready, ...cancelled("k-1", { L1: 1 })],
      when: shipped("s-1", { L1: 4 }),
      gives: "rejected LINE_CANCELLED",
    },
    {
      says: "what was not reserved",
      given: paid,
      when: shipped("s-1", { L1: 1 }),
      gives: "deferred NOT_RESERVED",
    },
    {
      says: "what was released again",
      given: [...ready, released("u-1", "r-1", 2)],
      when: shipped("s-1", { L1: 3 }),
      gives: "deferred NOT_RESERVED",
    },
    {
      says: "what another parcel took",
      given: [...paid, reserved("r-1", "L1", 2), shipped("s-1", { L1: 2 })],
      when: shipped("s-2", { L1: 1 }),
      gives: "deferred NOT_RESERVED",
    },
    {
      says: "all or nothing",
      given: [...paid, reserved("r-1", "L1", 4)],
      when: shipped("s-1", { L1: 4, L2: 1 }),
      gives: "deferred NOT_RESERVED",
      shows: { lines: { L1: { shipped: 0 } } },
    },
    {
      says: "a part",
      given: ready,
      when: shipped("s-1", { L1: 3, L2: 1 }),
      gives: "applied",
      shows: {
        lines: { L1: { shipped: 3 }, L2: { shipped: 1 } },
        derived: { status: "in_fulfilment", fulfilmentStatus: "partially_shipped" },
      },
    },
    {
      says: "the rest",
      given: [...ready, shipped("s-1", { L1: 3, L2: 1 })],
      when: shipped("s-2", { L1: 1, L2: 1 }),
      gives: "applied",
      shows: { derived: { status: "completed", fulfilmentStatus: "shipped", paymentStatus: "paid" } },
    },
    {
      says: "on a cancelled order",
      given: withCancel,
      when: shipped("s-1", { L1: 1 }),
      gives: "rejected ORDER_CANCELLED",
    },
    {
      says: "an unknown line of a cancelled order",
      given: withCancel,
      when: shipped("s-1", { L9: 1 }),
      gives: "rejected ORDER_CANCELLED",
    },
    {
      says: "again with the same data",
      given: [...ready, shipped("s-1", { L1: 1 })],
      when: shipped("s-1", { L1: 1 }),
      gives: "duplicate",
    },
    {
      says: "again with other items",
      given: [...ready, shipped("s-1", { L1: 1 })],
      when: shipped("s-1", { L1: 2 }),
      gives: "rejected REF_CONFLICT",
    },
  ]);
});
