import type { Line, OrderChange, OrderTotals, OrderView, Ref, RefName } from "./order.ts";

export interface OrderRows {
  readonly totals: OrderTotals;
  readonly lines: Iterable<Line>;
  readonly refs: Iterable<Ref>;
}

export class OrderState implements OrderView {
  constructor(_rows: OrderRows) {
    throw new Error("not written yet");
  }
  get totals(): OrderTotals {
    throw new Error("not written yet");
  }
  get lineCount(): number {
    throw new Error("not written yet");
  }
  line(_lineId: string): Line | undefined {
    throw new Error("not written yet");
  }
  lines(): Iterable<Line> {
    throw new Error("not written yet");
  }
  ref(_name: RefName): Ref | undefined {
    throw new Error("not written yet");
  }
  apply(_change: OrderChange): void {
    throw new Error("not written yet");
  }
  /** Changed or new since construction, each once, as it is now. */
  changedLines(): readonly Line[] {
    throw new Error("not written yet");
  }
  /** Created since construction, as they are now. */
  newRefs(): readonly Ref[] {
    throw new Error("not written yet");
  }
  /** Existed at construction and differ now. */
  changedRefs(): readonly Ref[] {
    throw new Error("not written yet");
  }
}

export function emptyOrder(_lcid: string): OrderState {
  throw new Error("not written yet");
}
