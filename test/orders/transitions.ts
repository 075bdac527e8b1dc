import assert from "node:assert/strict";
import { decide, derive, fold } from "@junban/orders";
import type { Derived, Line, OrderEvent, OrderState, OrderTotals } from "@junban/orders";
import { expect, test } from "vitest";
import { outcomeOf } from "./desk.ts";
import { LCID } from "./events.ts";

/** One row: after `given`, all of it applied, the event `when` has the outcome `gives`, and the order looks like `shows`. */
export interface Transition {
  readonly says: string;
  readonly given: readonly OrderEvent[];
  readonly when: OrderEvent;
  readonly gives: string;
  readonly shows?: {
    readonly totals?: Partial<OrderTotals>;
    readonly lines?: Readonly<Record<string, Partial<Line>>>;
    readonly derived?: Partial<Derived>;
  };
}

export function checkTransitions(rows: readonly Transition[]): void {
  for (const row of rows) test(`${row.says}: ${row.gives}`, () => checkTransition(row));
}

function checkTransition({ given, when, gives, shows }: Transition): void {
  const state = fold(LCID, given);
  const before = pictureOf(state);
  const decision = decide(state, when);
  expect(outcomeOf(decision)).toBe(gives);
  assert.deepEqual(pictureOf(state), before, "deciding changes nothing");
  if (decision.kind === "applied") state.apply(decision.change);
  expect(state.totals.version).toBe(given.length + (decision.kind === "applied" ? 1 : 0));
  if (shows?.totals) expect(state.totals).toMatchObject(shows.totals);
  for (const [lineId, fields] of Object.entries(shows?.lines ?? {})) {
    expect(state.line(lineId)).toMatchObject(fields);
  }
  if (shows?.derived) expect(derive(state)).toMatchObject(shows.derived);
}

/** Everything there is to see of an order, in an order of its own. */
export function pictureOf(state: OrderState): object {
  const refs = state.newRefs().toSorted((a, b) => (`${a.kind}:${a.ref}` < `${b.kind}:${b.ref}` ? -1 : 1));
  const lines = [...state.lines()].toSorted((a, b) => (a.lineId < b.lineId ? -1 : 1));
  return { totals: state.totals, lines, refs, derived: derive(state) };
}
