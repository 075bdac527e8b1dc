import assert from "node:assert/strict";
import { derive } from "@junban/orders";
import type { Line, OrderChange, OrderEvent, OrderState, OrderView, Ref, RefKind } from "@junban/orders";

/** What must be true of every order at every moment, computed here from its rows in a second way. */
export function checkOrder(state: OrderState): void {
  // Every reference there is: the state was built from nothing.
  const refs = state.newRefs();
  checkPayments(state, refs);
  checkLines(state, refs);
  checkCancels(state, refs);
  checkDerived(state);
}

/** What must be true of every single step. */
export function checkStep(view: OrderView, event: OrderEvent, change: OrderChange): void {
  assert.equal(change.totals.version, view.totals.version + 1);
  assert(change.totals.cancelled || !view.totals.cancelled, "cancelled absorbs");
  assert(change.totals.placed, "whatever is applied comes with or after the placement");
  if (event.type !== "inventory.shipped") return;
  const { capturedMinor, refundedMinor, authorizedMinor, voidedMinor, shipGate, adjustmentMinor } =
    view.totals;
  const after = new Map([...view.lines(), ...change.lines].map((line) => [line.lineId, line]));
  const shippedMinor = sum(after.values(), (line) => line.shipped * line.unitAmountMinor) + adjustmentMinor;
  const securedMinor = shipGate === "captured" ? capturedMinor : authorizedMinor - voidedMinor;
  assert(securedMinor >= shippedMinor, "the gate held");
  if (capturedMinor > 0) assert(refundedMinor < capturedMinor, "not everything was given back");
}

function checkPayments({ totals }: OrderState, refs: readonly Ref[]): void {
  const captures = ofKind(refs, "capture");
  const sales = captures.filter((capture) => capture.parent === null);
  const { authorizedMinor, capturedMinor, voidedMinor, refundedMinor } = totals;
  assert.equal(authorizedMinor, sumAmounts([...ofKind(refs, "authorization"), ...sales]));
  assert.equal(capturedMinor, sumAmounts(captures.filter(stands)));
  assert.equal(voidedMinor, sumAmounts([...ofKind(refs, "void"), ...sales.filter((each) => !stands(each))]));
  assert.equal(refundedMinor, sumAmounts(ofKind(refs, "refund").filter(stands)));
  assert(refundedMinor <= capturedMinor);
  assert(capturedMinor + voidedMinor <= authorizedMinor);
  assert.equal(totals.paymentFailures, ofKind(refs, "failure").length);
  for (const authorization of ofKind(refs, "authorization")) {
    assert.equal(authorization.used, sumAmounts(childrenOf(refs, authorization, "capture").filter(stands)));
    assert.equal(authorization.voided, sumAmounts(childrenOf(refs, authorization, "void")));
    assert(authorization.used + authorization.voided <= authorization.amount);
  }
  for (const capture of captures) {
    assert.equal(capture.used, sumAmounts(childrenOf(refs, capture, "refund").filter(stands)));
    assert(capture.used <= capture.amount);
    if (capture.reversed) assert.equal(capture.used, 0);
    assert.equal(capture.reversed, hasFailed(refs, capture));
  }
  for (const refund of ofKind(refs, "refund")) assert.equal(refund.reversed, hasFailed(refs, refund));
}

function checkLines(state: OrderState, refs: readonly Ref[]): void {
  for (const line of state.lines()) {
    const { lineId, quantity, peak, cancelled, reserved, released, shipped, shortOpen } = line;
    const reservations = ofKind(refs, "reservation").filter((each) => each.lineId === lineId);
    const shortages = ofKind(refs, "shortage").filter((each) => each.lineId === lineId);
    assert.equal(reserved, sumAmounts(reservations));
    const releasedOfThem = sum(reservations, (each) => each.used);
    assert.equal(released, releasedOfThem);
    assert.equal(shortOpen, sumAmounts(shortages.filter((each) => each.open)));
    const active = quantity - cancelled;
    const allocated = Math.min(reserved - released, active);
    assert(
      0 <= shipped && shipped <= allocated && allocated <= active && active <= quantity && quantity <= peak,
    );
    assert(0 <= released && released <= reserved);
  }
  for (const reservation of ofKind(refs, "reservation")) {
    assert.equal(reservation.used, sumAmounts(childrenOf(refs, reservation, "release")));
    assert(reservation.used <= reservation.amount);
  }
  assert.equal(shippedOf(state), sumAmounts(ofKind(refs, "shipment")));
}

function checkCancels(state: OrderState, refs: readonly Ref[]): void {
  const requests = ofKind(refs, "cancel-request");
  const confirmed = requests.filter((request) => childrenOf(refs, request, "cancel-confirm").length > 0);
  for (const request of requests) {
    const answers = [
      ...childrenOf(refs, request, "cancel-confirm"),
      ...childrenOf(refs, request, "cancel-reject"),
    ];
    assert.equal(answers.length, request.open ? 0 : 1);
  }
  const open = requests.filter((request) => request.open && request.detail?.scope === "order");
  assert.equal(state.totals.openCancels, open.length);
  const isCancelled = confirmed.some((request) => request.detail?.scope === "order");
  assert.equal(state.totals.cancelled, isCancelled);
  const pieces = sum(state.lines(), activeOf);
  if (isCancelled) assert.deepEqual([pieces, shippedOf(state)], [0, 0]);
  else if (state.totals.placed) assert(pieces > 0);
}

function checkDerived(state: OrderState): void {
  const { totals } = state;
  const derived = derive(state);
  const totalMinor =
    sum(state.lines(), (line) => activeOf(line) * line.unitAmountMinor) + totals.adjustmentMinor;
  if (!totals.cancelled) assert(totalMinor >= 0);
  assert.equal(derived.payableMinor, totals.cancelled ? 0 : totalMinor);
  assert.equal(derived.status === "cancelled", totals.cancelled);
  const { refundDueMinor, voidDueMinor, releaseDue, openMinor } = derived;
  assert(Math.min(refundDueMinor, voidDueMinor, releaseDue, openMinor) >= 0);
  if (derived.status !== "completed") return;
  assert(totals.capturedMinor >= derived.payableMinor);
  assert.equal(refundDueMinor, 0);
  assert.equal(shippedOf(state), sum(state.lines(), activeOf));
}

function shippedOf(state: OrderState): number {
  return sum(state.lines(), (line) => line.shipped);
}

function activeOf(line: Line): number {
  return line.quantity - line.cancelled;
}

function stands(ref: Ref): boolean {
  return !ref.reversed;
}

function ofKind(refs: readonly Ref[], kind: RefKind): Ref[] {
  return refs.filter((ref) => ref.kind === kind);
}

function childrenOf(refs: readonly Ref[], parent: Ref, kind: RefKind): Ref[] {
  return ofKind(refs, kind).filter(
    (ref) => ref.parent?.kind === parent.kind && ref.parent.ref === parent.ref,
  );
}

function hasFailed(refs: readonly Ref[], ref: Ref): boolean {
  return ofKind(refs, "failure").some((failure) => failure.ref === `${ref.kind}:${ref.ref}`);
}

function sumAmounts(refs: readonly Ref[]): number {
  return sum(refs, (ref) => ref.amount);
}

function sum<Value>(values: Iterable<Value>, measure: (value: Value) => number): number {
  let total = 0;
  for (const value of values) total += measure(value);
  return total;
}
