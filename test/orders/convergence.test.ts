import assert from "node:assert/strict";
import type { OrderEvent } from "@junban/orders";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Desk } from "./desk.ts";
import { authorized, captured, failed, line, placed, reserved, sale, shipped } from "./events.ts";
import { checkOrder, checkStep } from "./invariants.ts";
import { raceFreeStory } from "./race-free-stories.ts";
import { shuffled } from "./shuffle.ts";
import { pictureOf } from "./transitions.ts";

const dice = fc.infiniteStream(fc.nat());

test("8: any shuffle of a story without races ends in the same order, with everything applied", () => {
  fc.assert(
    fc.property(raceFreeStory, dice, (story, rolls) => {
      const told = deliverAll(story);
      expect(told.held(), "as told").toEqual([]);
      expect(told.state.totals.version).toBe(story.length);
      for (let round = 0; round < 3; round += 1) {
        const desk = deliverAll(shuffled(story, rolls));
        expect(desk.outcomes().filter((outcome) => outcome !== "applied")).toEqual([]);
        assert.deepEqual(pictureOf(desk.state), pictureOf(told.state));
      }
    }),
    { numRuns: 2_000 },
  );
}, 120_000);

test("8: and so does any shuffle in which events come twice, under one id or under two", () => {
  fc.assert(
    fc.property(raceFreeStory, dice, (story, rolls) => {
      const told = deliverAll(story);
      const desk = new Desk(checkStep);
      const entries = story.flatMap((event, index) => [
        { id: `evt-${index}`, event },
        { id: `evt-${index}`, event },
        { id: `twin-${index}`, event },
      ]);
      for (const { id, event } of shuffled(entries, rolls)) desk.deliverAs(id, event);
      checkOrder(desk.state);
      assert.deepEqual(pictureOf(desk.state), pictureOf(told.state));
      const outcomes = desk.outcomes();
      expect(outcomes.filter((outcome) => outcome === "applied").length).toBe(story.length);
      expect(outcomes.filter((outcome) => outcome === "duplicate").length).toBe(story.length);
    }),
    { numRuns: 1_000 },
  );
}, 120_000);

test("8: a race is decided by publish order: a reversal before or after the parcel left", () => {
  const before = [placed([line("L1", 1)]), sale("c-1", 100), reserved("r-1", "L1", 1)];
  const reversal = failed("capture", "c-1");
  const parcel = shipped("s-1", { L1: 1 });
  const reversedFirst = deliverAll([...before, reversal, parcel]);
  const shippedFirst = deliverAll([...before, parcel, reversal]);
  expect(reversedFirst.outcomes().at(-1)).toBe("deferred PAYMENT_NOT_CONFIRMED");
  expect(shippedFirst.derived).toMatchObject({ fulfilmentStatus: "shipped", status: "in_fulfilment" });
});

test("8: a race is decided by publish order: a failed authorization that succeeded after all", () => {
  const before = [placed([line("L1", 1)])];
  const failure = failed("authorization", "a-1");
  const success = [authorized("a-1", 100), captured("c-1", "a-1", 100)];
  const early = deliverAll([...before, failure, ...success]);
  const late = deliverAll([...before, ...success, failure]);
  expect(late.outcomes().at(-1)).toBe("rejected STALE_FAILURE");
  // Only the count of failures tells them apart.
  expect(early.derived).toEqual(late.derived);
});

function deliverAll(events: readonly OrderEvent[]): Desk {
  const desk = new Desk(checkStep);
  desk.deliver(...events);
  checkOrder(desk.state);
  return desk;
}
