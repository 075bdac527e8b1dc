import { expect, test } from "vitest";
import { ThrottledLines } from "../../apps/worker/src/throttled-lines.ts";

class Time {
  nowMs = 0;
  readonly clock = (): number => this.nowMs;
}

function linesAt(time: Time): { lines: ThrottledLines; said: object[] } {
  const said: object[] = [];
  const say = (fields: object): number => said.push(fields);
  const lines = new ThrottledLines({ logger: { warn: say, error: say }, everyMs: 5_000, clock: time.clock });
  return { lines, said };
}

test("an order whose trouble was not said is named by the next line of its kind, however often others came first", () => {
  const time = new Time();
  const { lines, said } = linesAt(time);
  const say = (lcid: string): void => lines.say("error", "lane P0001", { lcid, fields: {}, line: "again" });
  say("HOT");
  for (const lcid of ["HOT", "STAND", "HOT", "OTHER", "HOT"]) say(lcid);
  time.nowMs += 5_000;
  say("HOT");
  time.nowMs += 5_000;
  say("HOT");
  expect(said).toEqual([
    { lcid: "HOT" },
    { lcid: "HOT", unsaid: 5, otherLcids: ["STAND", "OTHER"] },
    { lcid: "HOT" },
  ]);
});

test("a line names no more than 20 other orders, and counts all", () => {
  const time = new Time();
  const { lines, said } = linesAt(time);
  for (let order = 0; order < 1_000; order += 1) {
    lines.say("error", "lane P0001", { lcid: `order-${order}`, fields: {}, line: "again" });
  }
  time.nowMs += 5_000;
  lines.say("error", "lane P0001", { lcid: "last", fields: {}, line: "again" });
  expect(said.at(-1)).toMatchObject({ unsaid: 999 });
  expect((said.at(-1) as { otherLcids: string[] }).otherLcids).toHaveLength(20);
});
