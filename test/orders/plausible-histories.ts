import type { OrderEvent } from "@junban/orders";
import fc from "fast-check";
import type { Desk } from "./desk.ts";
import {
  added,
  authorized,
  cancelConfirmed,
  cancelRejected,
  cancelRequested,
  captured,
  changed,
  failed,
  line,
  placed,
  refunded,
  released,
  removed,
  reserved,
  sale,
  shipped,
  short,
  voided,
} from "./events.ts";

// A world so small that references meet each other, amounts add up now and then, and keys collide.
const lineId = fc.constantFrom("L1", "L2", "L3");
const authorizationId = fc.constantFrom("a-1", "a-2");
const captureId = fc.constantFrom("c-1", "c-2", "c-3");
const refundId = fc.constantFrom("f-1", "f-2");
const reservationId = fc.constantFrom("r-1", "r-2", "r-3");
const shortageId = fc.constantFrom("h-1", "h-2");
const cancelId = fc.constantFrom("k-1", "k-2");
const changeId = fc.constantFrom("ch-1", "ch-2", "ch-3");
const numbered = (prefix: string) => fc.constantFrom(`${prefix}-1`, `${prefix}-2`, `${prefix}-3`);
const quantity = fc.constantFrom(1, 1, 2, 3, 5);
const amount = fc.constantFrom(100, 100, 200, 300, 500, 1_000);
const currency = fc.constantFrom("JPY", "JPY", "JPY", "JPY", "JPY", "JPY", "JPY", "USD");

/** One or two lines and how many of each. */
const pieces = fc.dictionary(lineId, fc.constantFrom(1, 1, 1, 2, 3), {
  minKeys: 1,
  maxKeys: 2,
  noNullPrototype: true,
});

const placement: fc.Arbitrary<OrderEvent> = fc
  .record({
    lines: fc.uniqueArray(fc.record({ lineId, quantity }), {
      minLength: 1,
      maxLength: 2,
      selector: (entry) => entry.lineId,
    }),
    adjustment: fc.constantFrom(0, 0, 50, -200),
    shipGate: fc.constantFrom("captured" as const, "authorized" as const),
  })
  .map(({ lines, adjustment, shipGate }) => {
    const articlesMinor = lines.reduce((sum, entry) => sum + entry.quantity * 100, 0);
    const placedLines = lines.map((entry) => line(entry.lineId, entry.quantity));
    return placed(placedLines, { adjustment: Math.max(adjustment, -articlesMinor), shipGate });
  });

const stage = fc.constantFrom("authorization" as const, "capture" as const, "refund" as const);
const failure = stage.chain((at) => {
  const refs = { authorization: authorizationId, capture: captureId, refund: refundId };
  return refs[at].map((ref) => failed(at, ref));
});

const plausibleEvent: fc.Arbitrary<OrderEvent> = fc.oneof(
  { weight: 1, arbitrary: placement },
  { weight: 2, arbitrary: fc.tuple(lineId, quantity).map(([id, count]) => added(id, count)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(changeId, lineId, quantity, quantity)
      .map(([id, of, from, to]) => changed(id, of, [from, to])),
  },
  { weight: 1, arbitrary: fc.tuple(changeId, lineId, quantity).map((args) => removed(...args)) },
  { weight: 4, arbitrary: fc.tuple(authorizationId, amount, currency).map((args) => authorized(...args)) },
  {
    weight: 4,
    arbitrary: fc.tuple(captureId, authorizationId, amount, currency).map((args) => captured(...args)),
  },
  { weight: 2, arbitrary: fc.tuple(captureId, amount).map((args) => sale(...args)) },
  { weight: 1, arbitrary: fc.tuple(numbered("v"), authorizationId, amount).map((args) => voided(...args)) },
  { weight: 2, arbitrary: fc.tuple(refundId, captureId, amount).map((args) => refunded(...args)) },
  { weight: 2, arbitrary: failure },
  {
    weight: 6,
    arbitrary: fc
      .tuple(reservationId, lineId, quantity, fc.option(shortageId, { freq: 4 }))
      .map((args) => reserved(...args)),
  },
  { weight: 2, arbitrary: fc.tuple(shortageId, lineId, quantity).map((args) => short(...args)) },
  { weight: 2, arbitrary: fc.tuple(numbered("u"), reservationId, quantity).map((args) => released(...args)) },
  { weight: 6, arbitrary: fc.tuple(numbered("s"), pieces).map((args) => shipped(...args)) },
  { weight: 2, arbitrary: fc.tuple(cancelId, pieces).map((args) => cancelRequested(...args)) },
  { weight: 1, arbitrary: cancelId.map((id) => cancelRequested(id)) },
  { weight: 2, arbitrary: cancelId.map(cancelConfirmed) },
  { weight: 1, arbitrary: cancelId.map(cancelRejected) },
);

/** A delivery: of something new, of an earlier event under its own id again, or of an earlier event under another id. */
export type Delivery =
  | { readonly kind: "new"; readonly event: OrderEvent }
  | { readonly kind: "again" | "twin"; readonly back: number };

const delivery: fc.Arbitrary<Delivery> = fc.oneof(
  { weight: 8, arbitrary: plausibleEvent.map((event) => ({ kind: "new" as const, event })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("again" as const, "twin" as const),
      back: fc.integer({ min: 0, max: 20 }),
    }),
  },
);

/** Up to some sixty deliveries around one placement, which is not always the first. */
export const plausibleHistory: fc.Arbitrary<readonly Delivery[]> = fc
  .tuple(
    fc.array(delivery, { maxLength: 2 }),
    placement.map((event): Delivery => ({ kind: "new", event })),
    fc.array(delivery, { minLength: 10, maxLength: 60, size: "max" }),
  )
  .map(([before, placing, after]) => [...before, placing, ...after]);

/** Delivers one step after another, each followed by `check`. Events are named by their position. */
export function play(desk: Desk, history: readonly Delivery[], check: () => void = () => {}): OrderEvent[] {
  const published: OrderEvent[] = [];
  for (const step of history) {
    if (step.kind === "new") publish(desk, { published, event: step.event });
    else if (published.length > 0) repeat(desk, { published, kind: step.kind, back: step.back });
    check();
  }
  return published;
}

function publish(desk: Desk, { published, event }: { published: OrderEvent[]; event: OrderEvent }): void {
  desk.deliverAs(`evt-${published.length}`, event);
  published.push(event);
}

function repeat(
  desk: Desk,
  { published, kind, back }: { published: OrderEvent[]; kind: "again" | "twin"; back: number },
): void {
  const index = Math.max(0, published.length - 1 - back);
  const event = published[index]!;
  if (kind === "twin") publish(desk, { published, event });
  else desk.deliverAs(`evt-${index}`, event);
}
