import { expect, test } from "vitest";
import type { EventResult } from "../../apps/gateway/src/intake.ts";
import { OutageLog } from "../../apps/gateway/src/outage-log.ts";

const named = { source: "/shop", id: "e-1", lcid: "A-1" };
const taken: EventResult = { status: 202, outcome: "queued", ...named };
const lost: EventResult = { status: 503, code: "REDIS_AWAY", message: "x", ...named };
const unusable: EventResult = { status: 400, code: "INVALID_EVENT", message: "x" };

test("an outage that flickers is one outage, over once an event was taken and none refused for a second", () => {
  const lines: string[] = [];
  const hear = (...entry: unknown[]): unknown => lines.push(String(entry[1]));
  let nowMs = 10_000;
  const log = new OutageLog({ logger: { info: hear, warn: hear }, nowMs: () => nowMs });
  log.published([taken]);
  for (let round = 0; round < 10; round += 1) {
    log.published([taken, lost]);
    nowMs += 900;
    log.published([taken]);
  }
  expect(lines).toEqual(["Redis does not acknowledge events"]);
  nowMs += 100;
  log.published([unusable]);
  expect(lines).toHaveLength(1);
  log.published([taken]);
  log.published([taken]);
  expect(lines).toEqual(["Redis does not acknowledge events", "Redis acknowledges events again"]);
  log.published([lost]);
  expect(lines).toHaveLength(3);
});
