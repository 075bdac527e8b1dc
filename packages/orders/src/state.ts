import assert from "node:assert/strict";
import type { Line, OrderChange, OrderTotals, OrderView, Ref, RefName } from "./order.ts";

/** An order as it is stored: its totals, all its lines, and those references that the coming decisions look up. */
export interface OrderRows {
  readonly totals: OrderTotals;
  readonly lines: Iterable<Line>;
  readonly refs: Iterable<Ref>;
}

/** The one owner of an order in memory. It takes decided changes and remembers what to write; it decides nothing itself. */
export class OrderState implements OrderView {
  #totals: OrderTotals;
  readonly #lines = new Map<string, Line>();
  readonly #refs = new Map<string, Ref>();
  readonly #changedLineIds = new Set<string>();
  readonly #newRefKeys = new Set<string>();
  readonly #changedRefKeys = new Set<string>();

  constructor({ totals, lines, refs }: OrderRows) {
    this.#totals = totals;
    for (const line of lines) this.#lines.set(line.lineId, line);
    for (const ref of refs) this.#refs.set(keyOf(ref), ref);
  }

  get totals(): OrderTotals {
    return this.#totals;
  }

  get lineCount(): number {
    return this.#lines.size;
  }

  line(lineId: string): Line | undefined {
    return this.#lines.get(lineId);
  }

  lines(): Iterable<Line> {
    return this.#lines.values();
  }

  ref(name: RefName): Ref | undefined {
    return this.#refs.get(keyOf(name));
  }

  apply(change: OrderChange): void {
    assert.equal(
      change.totals.version,
      this.#totals.version + 1,
      "a change applies to the state it was decided on",
    );
    this.#totals = change.totals;
    for (const line of change.lines) {
      this.#lines.set(line.lineId, line);
      this.#changedLineIds.add(line.lineId);
    }
    for (const ref of change.refs) this.#keep(ref);
  }

  /** Changed or new since construction, each once, as it is now. */
  changedLines(): readonly Line[] {
    return pick(this.#lines, this.#changedLineIds);
  }

  /** Created since construction, as they are now. */
  newRefs(): readonly Ref[] {
    return pick(this.#refs, this.#newRefKeys);
  }

  /** Given at construction and replaced since, as they are now. */
  changedRefs(): readonly Ref[] {
    return pick(this.#refs, this.#changedRefKeys);
  }

  #keep(ref: Ref): void {
    const key = keyOf(ref);
    if (!this.#refs.has(key)) this.#newRefKeys.add(key);
    else if (!this.#newRefKeys.has(key)) this.#changedRefKeys.add(key);
    this.#refs.set(key, ref);
  }
}

/** An order nobody placed yet. Events that come before its placement are decided against it, and held. */
export function emptyOrder(lcid: string): OrderState {
  return new OrderState({ totals: emptyTotals(lcid), lines: [], refs: [] });
}

function emptyTotals(lcid: string): OrderTotals {
  return {
    lcid,
    placed: false,
    cancelled: false,
    currency: null,
    shipGate: null,
    adjustmentMinor: 0,
    authorizedMinor: 0,
    capturedMinor: 0,
    voidedMinor: 0,
    refundedMinor: 0,
    openCancels: 0,
    paymentFailures: 0,
    version: 0,
  };
}

/** No kind contains a colon, so the first one ends it, whatever the ref contains. */
function keyOf({ kind, ref }: RefName): string {
  return `${kind}:${ref}`;
}

function pick<Value>(values: ReadonlyMap<string, Value>, keys: Iterable<string>): Value[] {
  const picked: Value[] = [];
  for (const key of keys) {
    const value = values.get(key);
    if (value !== undefined) picked.push(value);
  }
  return picked;
}
