import type { Decision, DeferReason, DuplicateOf, RejectReason } from "./decision.ts";
import { canonicalText, digestOf } from "./digest.ts";
import type { OrderEvent, OrderEventType } from "./event.ts";
import type { Line, OrderTotals, OrderView, Ref, RefKind, RefName } from "./order.ts";

/** How one type of event is known again, what it refers to, and what it does. */
export interface EventRule<Event extends OrderEvent> {
  /** The business key: once an event was applied under it, another one is a repeat or a conflict. */
  keyOf(event: Event): DuplicateOf;
  /** What `decide` looks up besides the business key. The parent of each is at hand too. */
  looksUp(event: Event): readonly RefName[];
  /** Called for a placed order only, except for the placement itself. The guards stand in the order of the transition table. */
  decide(view: OrderView, event: Event): Decision;
}

export type EventOfType<Type extends OrderEventType> = Extract<OrderEvent, { type: Type }>;
export type EventRules<Type extends OrderEventType> = { readonly [T in Type]: EventRule<EventOfType<T>> };

export function named(kind: RefKind, ref: string): RefName {
  return { kind, ref };
}

export function rejected(reason: RejectReason): Decision {
  return { kind: "rejected", reason };
}

export function deferred(reason: DeferReason): Decision {
  return { kind: "deferred", reason };
}

export interface Effect {
  readonly totals?: Partial<OrderTotals>;
  readonly lines?: readonly Line[];
  readonly refs?: readonly Ref[];
}

export function applied(view: OrderView, effect: Effect): Decision {
  const totals = { ...view.totals, ...effect.totals, version: view.totals.version + 1 };
  return { kind: "applied", change: { totals, lines: effect.lines ?? [], refs: effect.refs ?? [] } };
}

/** The reference an applied event leaves under its business key; fields not given are those of a kind that has none. */
export function refFor(event: OrderEvent, name: RefName, fields: Partial<Ref> = {}): Ref {
  return {
    parent: null,
    dataDigest: dataDigestOf(event),
    amount: 0,
    used: 0,
    voided: 0,
    reversed: false,
    open: false,
    lineId: null,
    detail: null,
    ...fields,
    kind: name.kind,
    ref: name.ref,
  };
}

/** The type belongs to it because two types may share one kind of key. */
export function dataDigestOf(event: OrderEvent): string {
  return digestOf(`${event.type}\0${canonicalText(event.data)}`);
}

/** Thrown when a view lacks what something in it proves to exist: whoever made the view did not load it. A bug, not an outcome. */
export class IncompleteViewError extends Error {
  override readonly name = "IncompleteViewError";
  readonly code = "INCOMPLETE_VIEW";
  readonly missing: DuplicateOf;

  constructor(missing: DuplicateOf, options?: ErrorOptions) {
    super(`a ${missing.kind} that is known to exist is not in the view`, options);
    this.missing = missing;
  }
}

export function parentOf(view: OrderView, child: Ref): Ref | null {
  if (child.parent === null) return null;
  const parent = view.ref(child.parent);
  if (parent === undefined) throw new IncompleteViewError(child.parent);
  return parent;
}

/** The line of something that could only be applied because the line existed. Lines never leave their order. */
export function lineKnownAs(view: OrderView, lineId: string): Line {
  const line = view.line(lineId);
  if (line === undefined) throw new IncompleteViewError({ kind: "line", ref: lineId });
  return line;
}
