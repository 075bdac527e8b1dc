import type { decide } from "./decide.ts";
import type { DeferReason, DuplicateOf, RejectReason } from "./decision.ts";
import type { Derived } from "./derive.ts";
import type { OrderEvent } from "./event.ts";
import type { OrderState } from "./state.ts";

export interface HeldEvent {
  /** The event's place in its order: lower came first. */
  readonly arrival: number;
  readonly event: OrderEvent;
}

export type HeldVerdict = { readonly arrival: number } & (
  | { readonly kind: "applied"; readonly version: number; readonly derived: Derived }
  | { readonly kind: "duplicate"; readonly of: DuplicateOf }
  | { readonly kind: "rejected"; readonly reason: RejectReason }
  | { readonly kind: "failed"; readonly error: unknown }
);

export interface RedecideOptions {
  readonly stopOnFailure: boolean;
  readonly decide?: typeof decide;
}

export interface Redecision {
  readonly verdicts: readonly HeldVerdict[];
  readonly stillHeld: readonly { readonly arrival: number; readonly reason: DeferReason }[];
}

export function redecide(
  _state: OrderState,
  _held: readonly HeldEvent[],
  _options: RedecideOptions,
): Redecision {
  throw new Error("not written yet");
}
