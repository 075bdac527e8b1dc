import { createLanes, type Lanes } from "@junban/handoff-lock";
import { readLane } from "@junban/operations";
import { requestOf, type EventEnvelope } from "@junban/orders";
import { expect, onTestFinished, test } from "vitest";
import { freshRedis } from "../support/index.ts";

function openLanes(): Lanes {
  const fresh = freshRedis();
  const lanes = createLanes({ redis: fresh.connect(), prefix: fresh.prefix });
  onTestFinished(() => lanes.close());
  return lanes;
}

function event(id: string): EventEnvelope {
  return { specversion: "1.0", id, source: "/shop", type: "order.placed", lcid: "A", data: { secret: id } };
}

test("one lane in full names the events of its line in their places, and tells nothing of what they say", async () => {
  const lanes = openLanes();
  const bodies = ["e-1", "e-2", "e-3"].map((id) => requestOf(event(id)));
  await lanes.queue("A", bodies);
  const lane = await readLane(lanes, { lcid: "A", skip: 1, limit: 10 });
  expect(lane).toMatchObject({ lcid: "A", depth: 3, holder: null, consistent: true, leftOutcomes: [] });
  expect(lane.line).toMatchObject([
    { place: 2, event: { source: "/shop", id: "e-2", type: "order.placed" }, seated: false },
    { place: 3, event: { source: "/shop", id: "e-3", type: "order.placed" }, seated: false },
  ]);
  expect(JSON.stringify(lane)).not.toContain("secret");
});

test("a request whose body holds no usable event keeps its place, without a name", async () => {
  const lanes = openLanes();
  await lanes.queue("A", [{ key: "odd", body: "not an event" }]);
  const { line } = await readLane(lanes, { lcid: "A", limit: 10 });
  expect(line).toMatchObject([{ place: 1, key: "odd", event: null }]);
});
