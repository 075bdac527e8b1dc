import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { Portions } from "../../apps/worker/src/portions.ts";

const numbered = (count: number, done: number[]): (() => void)[] =>
  Array.from({ length: count }, (_none, index) => () => done.push(index));

test("tasks run in their order, so many a turn of the event loop, and none in the step that adds them", async () => {
  const portions = new Portions({ size: 2 });
  const done: number[] = [];
  portions.add(numbered(5, done));
  expect(done).toEqual([]);
  for (const expected of [2, 4, 5]) {
    await turnOfTheLoop();
    expect(done).toHaveLength(expected);
  }
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

test("what is added while a portion runs waits behind those that were there", async () => {
  const portions = new Portions({ size: 1 });
  const done: string[] = [];
  portions.add([
    () => {
      done.push("first");
      portions.add([() => done.push("added meanwhile")]);
    },
    () => done.push("second"),
  ]);
  for (let turn = 0; turn < 3; turn += 1) await turnOfTheLoop();
  expect(done).toEqual(["first", "second", "added meanwhile"]);
});
