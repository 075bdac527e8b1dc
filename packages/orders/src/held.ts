import { decide } from "./decide.ts";
import type { Decision, DeferReason, DuplicateOf, RejectReason } from "./decision.ts";
import { derive } from "./derive.ts";
import type { Derived } from "./derive.ts";
import type { OrderEvent } from "./event.ts";
import type { OrderState } from "./state.ts";

export interface HeldEvent {
  /** The event's place in its order: lower came first. */
  readonly arrival: number;
  readonly event: OrderEvent;
}

/** How the waiting of a held event ended. The derived values are those right after it was applied. */
export type HeldVerdict = { readonly arrival: number } & (
  | { readonly kind: "applied"; readonly version: number; readonly derived: Derived }
  | { readonly kind: "duplicate"; readonly of: DuplicateOf }
  | { readonly kind: "rejected"; readonly reason: RejectReason }
  | { readonly kind: "failed"; readonly error: unknown }
);

export interface RedecideOptions {
  /** A failure halts the order: nothing more is decided, and the events not looked at again appear in neither list. */
  readonly stopOnFailure: boolean;
  readonly decide?: typeof decide;
}

export interface Redecision {
  /** In the order they were reached, which is the order of their versions. */
  readonly verdicts: readonly HeldVerdict[];
  /** What waits on, by arrival, with the reason of its latest decision. */
  readonly stillHeld: readonly { readonly arrival: number; readonly reason: DeferReason }[];
}

/**
 * Decides held events again until none of them can move: the earliest arrival first, and from the start after each one that
 * was applied, because it may be what an earlier one waited for. Changes the given state and nothing else.
 */
export function redecide(
  state: OrderState,
  held: readonly HeldEvent[],
  options: RedecideOptions,
): Redecision {
  const waiting: Waiting[] = held
    .toSorted((a, b) => a.arrival - b.arrival)
    .map((heldEvent) => ({ held: heldEvent, reason: null }));
  const verdicts: HeldVerdict[] = [];
  let index = 0;
  for (let next = waiting[index]; next !== undefined; next = waiting[index]) {
    const attempt = attemptHeld(state, { event: next.held.event, decideEvent: options.decide ?? decide });
    if (attempt.kind === "deferred") {
      next.reason = attempt.reason;
      index += 1;
      continue;
    }
    waiting.splice(index, 1);
    verdicts.push({ arrival: next.held.arrival, ...attempt });
    if (attempt.kind === "failed" && options.stopOnFailure) break;
    if (attempt.kind === "applied") index = 0;
  }
  return { verdicts, stillHeld: waiting.flatMap(stillHeldOf) };
}

interface Waiting {
  readonly held: HeldEvent;
  /** Null until it was decided in this round. */
  reason: DeferReason | null;
}

type Attempt =
  | { readonly kind: "applied"; readonly version: number; readonly derived: Derived }
  | { readonly kind: "failed"; readonly error: unknown }
  | Exclude<Decision, { kind: "applied" }>;

function attemptHeld(
  state: OrderState,
  { event, decideEvent }: { readonly event: OrderEvent; readonly decideEvent: typeof decide },
): Attempt {
  let decision: Decision;
  try {
    decision = decideEvent(state, event);
  } catch (error) {
    // It is this held event's failure. What made us look at it again was decided well.
    return { kind: "failed", error };
  }
  if (decision.kind !== "applied") return decision;
  state.apply(decision.change);
  return { kind: "applied", version: state.totals.version, derived: derive(state) };
}

function stillHeldOf({ held, reason }: Waiting): Redecision["stillHeld"] {
  return reason === null ? [] : [{ arrival: held.arrival, reason }];
}
