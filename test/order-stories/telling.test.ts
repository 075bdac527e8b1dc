import {
  type PublishedEvent,
  hotStory,
  referenceOf,
  splitStories,
  tellStories,
  trafficOf,
} from "@junban/order-stories";
import { describe, expect, test } from "vitest";

const defaults = { seed: 7, orders: 600, hotOrder: { events: 1_000 } };

function count<Key>(keys: Iterable<Key>): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function share(stream: readonly PublishedEvent[], note: PublishedEvent["note"]): number {
  return stream.filter((published) => published.note === note).length / stream.length;
}

describe("a told stream", () => {
  const stream = tellStories(defaults);

  test("is the same for the same seed, and another for another", () => {
    expect(tellStories(defaults)).toEqual(stream);
    expect(tellStories({ ...defaults, seed: 8 })).not.toEqual(stream);
  });

  test("keeps to its shares of repeats, early and invalid events", () => {
    expect(share(stream, "repeat")).toBeCloseTo(0.1, 2);
    expect(share(stream, "early")).toBeCloseTo(0.05, 2);
    expect(stream.filter(({ note }) => note === "invalid")).toHaveLength(30);
    const plain = tellStories({ seed: 7, orders: 50, repeatShare: 0, earlyShare: 0, invalidCount: 0 });
    expect(new Set(plain.map(({ note }) => note))).toEqual(new Set(["first"]));
  });

  test("has about as many events an order as asked for", () => {
    const firsts = stream.filter(({ note, event }) => note !== "repeat" && event.lcid !== "A-HOT");
    const orders = new Set(firsts.map(({ event }) => event.lcid));
    expect(orders.size).toBe(600);
    expect(firsts.length / orders.size).toBeGreaterThan(9);
    expect(firsts.length / orders.size).toBeLessThan(11);
  });

  test("interleaves orders as live traffic does", () => {
    const ordinary = stream.filter(({ event }) => event.lcid !== "A-HOT");
    const switches = ordinary.filter(({ event }, index) => event.lcid !== ordinary[index - 1]?.event.lcid);
    expect(switches.length / ordinary.length).toBeGreaterThan(0.9);
  });

  test("sends every repeat after its first, unchanged", () => {
    for (const { index, event, note, repeatOf } of stream) {
      if (note !== "repeat") continue;
      expect(repeatOf).toBeLessThan(index);
      expect(stream[repeatOf as number]?.event).toEqual(event);
      expect(stream[repeatOf as number]?.note).not.toBe("repeat");
    }
  });

  test("gives each event an identity of its own, unless it repeats or contradicts another", () => {
    const own = stream.filter(({ repeatOf }) => repeatOf === null);
    expect(new Set(own.map(({ event }) => `${event.source} ${event.id}`)).size).toBe(own.length);
    // Identity is source and id: the same id from two sources must occur, or nothing would notice a slip.
    expect(new Set(own.map(({ event }) => event.id)).size).toBeLessThan(own.length);
  });

  test("has every type of event, from several sources, in all four families", () => {
    const types = count(stream.map(({ event }) => event.type));
    for (const type of [
      "order.placed",
      "line.added",
      "line.quantity_changed",
      "line.removed",
      "payment.authorized",
      "payment.captured",
      "payment.voided",
      "payment.refunded",
      "payment.failed",
      "inventory.reserved",
      "inventory.short",
      "inventory.released",
      "inventory.shipped",
      "cancel.requested",
      "cancel.confirmed",
      "cancel.rejected",
    ]) {
      expect(types.get(type) ?? 0, type).toBeGreaterThan(20);
    }
    expect([...count(stream.map(({ event }) => event.source)).keys()].toSorted()).toEqual([
      "/checkout",
      "/payments",
      "/service-desk",
      "/shop",
      "/warehouse",
    ]);
  });

  test("has every flaw", () => {
    const flaws = count(stream.flatMap(({ flaw }) => (flaw === null ? [] : [flaw])));
    expect([...flaws.keys()].toSorted()).toEqual([
      "below-shipped",
      "cancelled-shipment",
      "closed-authorization",
      "conflicting-body",
      "conflicting-reference",
      "float-amount",
      "foreign-currency",
      "missing-field",
      "newer-schema",
      "nul-character",
      "over-capture",
      "over-refund",
      "over-release",
      "repeated-line",
      "unknown-currency",
      "unknown-type",
    ]);
  });

  test("mostly pays in yen, always in whole minor units", () => {
    const currencies = count(
      stream.flatMap(({ event, note }) =>
        event.type === "order.placed" && note === "first"
          ? [(event.data as { currency: string }).currency]
          : [],
      ),
    );
    expect(currencies.get("JPY")).toBeGreaterThan(400);
    expect(currencies.get("EUR")).toBeGreaterThan(5);
    expect(currencies.get("USD")).toBeGreaterThan(5);
  });
});

describe("what becomes of a default stream", () => {
  const stream = tellStories({ seed: 1, orders: 1_000, hotOrder: { events: 500 } });
  const reference = referenceOf(stream.map(({ event }) => event));
  const outcomes = count(
    [...reference.values()].flatMap((order) =>
      [...order.outcomes.values()].map(({ outcome, reason }) =>
        reason === null ? outcome : `${outcome} ${reason}`,
      ),
    ),
  );

  test("is mostly applied", () => {
    const all = [...outcomes.values()].reduce((sum, times) => sum + times, 0);
    expect((outcomes.get("applied") ?? 0) / all).toBeGreaterThan(0.9);
  });

  test("includes every outcome worth seeing", () => {
    for (const [outcome, least] of [
      ["duplicate", 50],
      ["deferred UNSUPPORTED", 4],
      ["deferred PAYMENT_NOT_CONFIRMED", 3],
      ["deferred LINE_PRECONDITION", 1],
      ["rejected INVALID_PAYLOAD", 10],
      ["rejected OVER_CAPTURE", 5],
      ["rejected AUTHORIZATION_CLOSED", 2],
      ["rejected OVER_REFUND", 3],
      ["rejected VOID_EXCEEDS_OPEN", 3],
      ["rejected STALE_FAILURE", 20],
      ["rejected CAPTURE_REVERSED", 3],
      ["rejected REVERSAL_AFTER_REFUND", 2],
      ["rejected OVER_RELEASE", 2],
      ["rejected ORDER_CANCELLED", 10],
      ["rejected LINE_CANCELLED", 1],
      ["rejected BELOW_SHIPPED", 1],
      ["rejected BELOW_CANCELLED", 1],
      ["rejected ALREADY_SHIPPED", 1],
      ["rejected CANCEL_CLOSED", 3],
      ["rejected CURRENCY_MISMATCH", 2],
      ["rejected REF_CONFLICT", 2],
    ] as const) {
      expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThanOrEqual(least);
    }
    const conflicts = [...reference.values()].reduce((sum, order) => sum + order.conflicts.length, 0);
    expect(conflicts).toBeGreaterThanOrEqual(2);
  });

  test("shows every status that a placed order can have", () => {
    const orders = [...reference.values()];
    expect([...count(orders.map(({ status }) => status)).keys()].toSorted()).toEqual([
      "cancel_requested",
      "cancelled",
      "completed",
      "confirmed",
      "in_fulfilment",
      "placed",
    ]);
    expect(count(orders.map(({ paymentStatus }) => paymentStatus)).size).toBeGreaterThanOrEqual(8);
    expect(count(orders.map(({ fulfilmentStatus }) => fulfilmentStatus)).size).toBeGreaterThanOrEqual(6);
    expect(orders.some(({ refundDueMinor }) => refundDueMinor > 0)).toBe(true);
    expect(orders.some(({ voidDueMinor }) => voidDueMinor > 0)).toBe(true);
    expect(orders.some(({ releaseDue }) => releaseDue > 0)).toBe(true);
  });

  test("holds early events and applies nearly all of them in the end", () => {
    const early = stream.filter(({ note }) => note === "early");
    const settled = early.map(({ event }) =>
      reference.get(event.lcid)?.outcomes.get(JSON.stringify([event.source, event.id])),
    );
    const applied = settled.filter((outcome) => outcome?.outcome === "applied").length;
    expect(applied / early.length).toBeGreaterThan(0.85);
    // Held means: applied later than something that was published after it.
    const overtaken = [...reference.values()].filter(({ applied: order, outcomes: published }) => {
      const byPublish = [...published.values()].filter(({ version }) => version !== null);
      return byPublish.some(({ version }, index) => version !== index + 1) && order.length > 0;
    });
    expect(overtaken.length).toBeGreaterThan(100);
  });
});

describe("a stream split among publishers", () => {
  const stream = tellStories({ seed: 3, orders: 200 });
  const split = splitStories(stream, { publishers: 4, seed: 3 });

  test("sends each event exactly once, each publisher in stream order", () => {
    const indexes = split.flatMap((steps) => steps.map(({ index }) => index));
    expect(indexes.toSorted((left, right) => left - right)).toEqual(stream.map(({ index }) => index));
    for (const steps of split) {
      const own = steps.map(({ index }) => index);
      expect(own).toEqual(own.toSorted((left, right) => left - right));
    }
    expect(split.every((steps) => steps.length > stream.length / 10)).toBe(true);
  });

  test("gives each lcid one publisher; only repeats come from elsewhere, and they wait for their first", () => {
    const homes = new Map<string, Set<number>>();
    for (const [publisher, steps] of split.entries()) {
      for (const { event, note } of steps) {
        if (note !== "repeat") homes.set(event.lcid, (homes.get(event.lcid) ?? new Set()).add(publisher));
      }
    }
    expect([...homes.values()].every((publishers) => publishers.size === 1)).toBe(true);
    const elsewhere = split.flatMap((steps, publisher) =>
      steps.filter(({ event }) => !homes.get(event.lcid)?.has(publisher)),
    );
    expect(elsewhere.length).toBeGreaterThan(30);
    expect(elsewhere.every(({ note, repeatOf, waitFor }) => note === "repeat" && waitFor === repeatOf)).toBe(
      true,
    );
    const waiting = split.flatMap((steps) => steps.filter(({ waitFor }) => waitFor !== null));
    expect(waiting).toHaveLength(elsewhere.length);
  });

  test("is the stream itself for a single publisher", () => {
    const [steps] = splitStories(stream, { publishers: 1, seed: 3 });
    expect(steps?.map(({ event }) => event)).toEqual(stream.map(({ event }) => event));
    expect(steps?.every(({ waitFor }) => waitFor === null)).toBe(true);
    expect(() => splitStories(stream, { publishers: 0, seed: 3 })).toThrow(RangeError);
  });
});

describe("streams for measuring", () => {
  test("a hot story is one order of exactly so many events, nearly all applied", () => {
    const events = hotStory({ seed: 5, lcid: "HOT-5", events: 2_000 });
    expect(events).toHaveLength(2_000);
    expect(new Set(events.map(({ lcid }) => lcid))).toEqual(new Set(["HOT-5"]));
    expect(new Set(events.map(({ type }) => type.split(".")[0]))).toEqual(
      new Set(["order", "line", "payment", "inventory", "cancel"]),
    );
    const order = referenceOf(events).get("HOT-5");
    expect(order?.version).toBeGreaterThan(1_800);
    expect(order?.status).not.toBe("cancelled");
  });

  test("uniform traffic spreads evenly", () => {
    const events = trafficOf({ seed: 5, orders: 100, events: 5_000, skew: "uniform" });
    const perOrder = [...count(events.map(({ lcid }) => lcid)).values()];
    expect(events).toHaveLength(5_000);
    expect(perOrder).toHaveLength(100);
    expect(Math.max(...perOrder)).toBeLessThan(100);
    expect(trafficOf({ seed: 5, orders: 100, events: 5_000, skew: "uniform" })).toEqual(events);
  });

  test("zipf traffic has a busiest order and a long tail", () => {
    const events = trafficOf({ seed: 5, orders: 1_000, events: 20_000, skew: "zipf" });
    const perOrder = count(events.map(({ lcid }) => lcid));
    // With s = 1.1 and 1,000 ranks, rank 1 has 17.9 % of the weight and rank 2 less than half of that.
    const busiest = (perOrder.get("A-1") ?? 0) / events.length;
    expect(busiest).toBeGreaterThan(0.16);
    expect(busiest).toBeLessThan(0.2);
    expect((perOrder.get("A-2") ?? 0) / events.length).toBeLessThan(0.1);
    expect(perOrder.size).toBeGreaterThan(700);
  });

  test("every order of a traffic stream starts with its placement", () => {
    const firsts = new Map<string, string>();
    for (const { lcid, type } of trafficOf({ seed: 6, orders: 50, events: 500, skew: "zipf" })) {
      if (!firsts.has(lcid)) firsts.set(lcid, type);
    }
    expect(new Set(firsts.values())).toEqual(new Set(["order.placed"]));
  });
});
