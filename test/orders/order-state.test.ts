import {
  decide,
  derive,
  emptyOrder,
  fold,
  HistoryError,
  IncompleteViewError,
  isPaymentHold,
  OrderState,
  raisesAlert,
  referencesOf,
} from "@junban/orders";
import type { OrderEvent } from "@junban/orders";
import { describe, expect, test } from "vitest";
import {
  added,
  authorized,
  cancelConfirmed,
  cancelRequested,
  captured,
  event,
  failed,
  LCID,
  line,
  placed,
  refunded,
  released,
  reserved,
  sale,
  shipped,
  voided,
} from "./events.ts";

function applyAll(state: OrderState, events: readonly OrderEvent[]): void {
  for (const next of events) {
    const decision = decide(state, next);
    if (decision.kind !== "applied") throw new Error(`${next.type} was ${decision.kind}`);
    state.apply(decision.change);
  }
}

describe("an order in memory", () => {
  test("knows what changed since it was loaded, each thing once and as it is now", () => {
    const before = fold(LCID, [
      placed([line("L1", 4), line("L2", 2)]),
      authorized("a-1", 600),
      authorized("a-2", 100),
    ]);
    const state = new OrderState({ totals: before.totals, lines: before.lines(), refs: before.newRefs() });
    expect([state.changedLines(), state.newRefs(), state.changedRefs()]).toEqual([[], [], []]);

    applyAll(state, [
      captured("c-1", "a-1", 300),
      captured("c-2", "a-1", 200),
      reserved("r-1", "L1", 4),
      released("u-1", "r-1", 1),
    ]);
    expect(state.changedLines()).toEqual([{ ...before.line("L1"), reserved: 4, released: 1 }]);
    expect(state.newRefs().map(({ kind, ref, used }) => `${kind} ${ref} ${used}`)).toEqual([
      "capture c-1 0",
      "capture c-2 0",
      "reservation r-1 1",
      "release u-1 0",
    ]);
    expect(state.changedRefs()).toMatchObject([
      { kind: "authorization", ref: "a-1", amount: 600, used: 500 },
    ]);
    expect(state.totals.version).toBe(before.totals.version + 4);
  });

  test("counts and lists its lines in the order they came", () => {
    const state = fold(LCID, [placed([line("L2", 1), line("L1", 1)]), added("L0", 1)]);
    expect(state.lineCount).toBe(3);
    expect([...state.lines()].map(({ lineId }) => lineId)).toEqual(["L2", "L1", "L0"]);
    expect(state.line("L9")).toBeUndefined();
  });

  test("keeps references apart by kind", () => {
    const state = fold(LCID, [
      placed([line("x", 1)]),
      authorized("x", 100),
      captured("x", "x", 50),
      failed("refund", "x"),
    ]);
    expect(state.ref({ kind: "authorization", ref: "x" })).toMatchObject({ amount: 100 });
    expect(state.ref({ kind: "capture", ref: "x" })).toMatchObject({
      amount: 50,
      parent: { kind: "authorization", ref: "x" },
    });
    expect(state.ref({ kind: "failure", ref: "refund:x" })).toBeDefined();
    expect(state.ref({ kind: "failure", ref: "capture:x" })).toBeUndefined();
    expect(state.ref({ kind: "void", ref: "x" })).toBeUndefined();
  });

  test("refuses a change that was decided on another state", () => {
    const state = emptyOrder(LCID);
    const decision = decide(state, placed([line("L1", 1)]));
    if (decision.kind !== "applied") throw new Error("not applied");
    state.apply(decision.change);
    expect(() => state.apply(decision.change)).toThrow("decided on");
  });

  test("starts empty, at version 0, awaiting its placement", () => {
    const state = emptyOrder(LCID);
    expect(state.totals).toMatchObject({ lcid: LCID, version: 0, placed: false, currency: null });
    expect(derive(state).status).toBe("awaiting_placement");
  });
});

describe("what an applied event leaves behind", () => {
  const refOf = (events: readonly OrderEvent[]) => fold(LCID, events).newRefs();
  const order = placed([line("L1", 4)]);

  test("is one reference, and none for a line", () => {
    expect(refOf([order])).toMatchObject([{ kind: "order", ref: LCID, parent: null }]);
    expect(refOf([order, added("L2", 1)])).toHaveLength(1);
  });

  test("names its parent", () => {
    const events = [
      order,
      authorized("a-1", 400),
      captured("c-1", "a-1", 300),
      refunded("f-1", "c-1", 1),
      voided("v-1", "a-1", 1),
    ];
    const more = [
      reserved("r-1", "L1", 2),
      released("u-1", "r-1", 1),
      cancelRequested("k-1"),
      sale("c-2", 1),
    ];
    const parents = Object.fromEntries(
      refOf([...events, ...more, cancelConfirmed("k-1")]).map(({ kind, ref, parent }) => [
        `${kind} ${ref}`,
        parent === null ? null : `${parent.kind} ${parent.ref}`,
      ]),
    );
    expect(parents).toEqual({
      [`order ${LCID}`]: null,
      "authorization a-1": null,
      "capture c-1": "authorization a-1",
      "refund f-1": "capture c-1",
      "void v-1": "authorization a-1",
      "reservation r-1": null,
      "release u-1": "reservation r-1",
      "cancel-request k-1": null,
      "cancel-confirm k-1": "cancel-request k-1",
      "capture c-2": null,
    });
  });

  test("carries quantities, lines and details", () => {
    const state = fold(LCID, [
      order,
      sale("c-1", 400),
      reserved("r-1", "L1", 4),
      shipped("s-1", { L1: 3 }),
      cancelRequested("k-1", { L1: 1 }),
    ]);
    expect(state.ref({ kind: "reservation", ref: "r-1" })).toMatchObject({
      amount: 4,
      lineId: "L1",
      used: 0,
    });
    expect(state.ref({ kind: "shipment", ref: "s-1" })).toMatchObject({ amount: 3, lineId: null });
    expect(state.ref({ kind: "cancel-request", ref: "k-1" })).toMatchObject({
      open: true,
      detail: { scope: "lines", items: [{ lineId: "L1", quantity: 1 }] },
    });
    for (const ref of state.newRefs()) expect(ref.dataDigest).toMatch(/^[\w-]{22}$/);
  });
});

describe("folding a history", () => {
  test("says which event does not apply", () => {
    const history = [placed([line("L1", 1)]), authorized("a-1", 100), captured("c-1", "a-1", 101)];
    const failure = catchError(() => fold(LCID, history));
    expect(failure).toBeInstanceOf(HistoryError);
    expect(failure).toMatchObject({
      code: "HISTORY_NOT_APPLICABLE",
      lcid: LCID,
      index: 2,
      type: "payment.captured",
      decision: { kind: "rejected", reason: "OVER_CAPTURE" },
    });
    expect(() => fold(LCID, [history[0]!, history[0]!])).toThrow(HistoryError);
  });

  test("takes any iterable and may be empty", () => {
    expect(fold(LCID, []).totals.version).toBe(0);
    expect(fold(LCID, new Set([placed([line("L1", 1)])])).totals.version).toBe(1);
  });
});

describe("a view that was loaded incompletely", () => {
  test("is a bug and says what is missing", () => {
    const whole = fold(LCID, [placed([line("L1", 1)]), authorized("a-1", 100), captured("c-1", "a-1", 100)]);
    const refs = whole.newRefs().filter(({ kind }) => kind !== "authorization");
    const state = new OrderState({ totals: whole.totals, lines: whole.lines(), refs });
    const failure = catchError(() => decide(state, failed("capture", "c-1")));
    expect(failure).toBeInstanceOf(IncompleteViewError);
    expect(failure).toMatchObject({
      code: "INCOMPLETE_VIEW",
      missing: { kind: "authorization", ref: "a-1" },
    });
  });

  test("names lines too", () => {
    const whole = fold(LCID, [placed([line("L1", 1)]), reserved("r-1", "L1", 1)]);
    const state = new OrderState({ totals: whole.totals, lines: [], refs: whole.newRefs() });
    expect(catchError(() => decide(state, released("u-1", "r-1", 1)))).toMatchObject({
      missing: { kind: "line", ref: "L1" },
    });
  });
});

test("references to look up are the business key and what an event refers to", () => {
  const names = (about: OrderEvent) => referencesOf(about).map(({ kind, ref }) => `${kind} ${ref}`);
  expect(names(placed([line("L1", 1)]))).toEqual([`order ${LCID}`]);
  expect(names(added("L1", 1))).toEqual([]);
  expect(names(captured("c-1", "a-1", 1))).toEqual([
    "capture c-1",
    "authorization a-1",
    "failure capture:c-1",
  ]);
  expect(names(sale("c-1", 1))).toEqual(["capture c-1", "failure capture:c-1"]);
  expect(names(failed("refund", "f-1"))).toEqual(["failure refund:f-1", "refund f-1"]);
  expect(names(reserved("r-1", "L1", 1, "h-1"))).toEqual(["reservation r-1", "shortage h-1"]);
});

describe("what an outcome means to people", () => {
  test("money may take longer than stock", () => {
    const payment = ["AUTHORIZATION_NOT_SEEN", "CAPTURE_NOT_SEEN", "PAYMENT_NOT_CONFIRMED"] as const;
    const other = [
      "ORDER_NOT_FOUND",
      "NOT_RESERVED",
      "LINE_NOT_FOUND",
      "CANCEL_NOT_REQUESTED",
      "EXCEEDS_ORDERED",
    ] as const;
    expect(payment.map(isPaymentHold)).toEqual([true, true, true]);
    expect(other.map(isPaymentHold)).toEqual([false, false, false, false, false]);
  });

  test.each([
    ["inventory.shipped", "ORDER_CANCELLED", true],
    ["inventory.shipped", "LINE_CANCELLED", true],
    ["inventory.shipped", "PREREQ_TIMEOUT:NOT_RESERVED", true],
    ["inventory.shipped", "HELD_LIMIT", true],
    ["inventory.shipped", "INVALID_PAYLOAD", false],
    ["inventory.shipped", "REF_CONFLICT", false],
    ["payment.captured", "OVER_CAPTURE", true],
    ["payment.captured", "AUTHORIZATION_CLOSED", false],
    ["payment.refunded", "OVER_REFUND", false],
    ["inventory.reserved", "ORDER_CANCELLED", false],
  ])("%s rejected %s: alert %s", (type, reason, alert) => {
    expect(raisesAlert(type, reason)).toBe(alert);
  });
});

test("a decision looks at known fields in any order of keys", () => {
  const state = fold(LCID, [placed([line("L1", 1)]), authorized("a-1", 100)]);
  const turned = event("payment.authorized", { currency: "JPY", amount: 100, authorizationId: "a-1" });
  expect(decide(state, turned)).toEqual({ kind: "duplicate", of: { kind: "authorization", ref: "a-1" } });
  expect(decide(state, added("L1", 1))).toEqual({ kind: "duplicate", of: { kind: "line", ref: "L1" } });
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
