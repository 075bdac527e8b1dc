import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { GivingWay } from "../../apps/worker/src/giving-way.ts";

const LONG_MS = 60_000;

/** Whether whoever stands aside has gone on. */
function watch(aside: Promise<void>): { goesOn: boolean } {
  const seen = { goesOn: false };
  void aside.then(() => {
    seen.goesOn = true;
  });
  return seen;
}

test("a lane that is alone does not stand aside", async () => {
  await expect(new GivingWay().standAside({ turns: 1, mostMs: LONG_MS })).resolves.toBeUndefined();
});

test("a lane stands aside until the others are through", async () => {
  const givingWay = new GivingWay();
  const seen = watch(givingWay.standAside({ turns: 3, mostMs: LONG_MS }));
  givingWay.turnEnded(2);
  await turnOfTheLoop();
  expect(seen.goesOn).toBe(false);
  givingWay.turnEnded(1);
  await turnOfTheLoop();
  expect(seen.goesOn).toBe(true);
});

test("lanes that stand aside do not wait for one another", async () => {
  const givingWay = new GivingWay();
  const first = watch(givingWay.standAside({ turns: 3, mostMs: LONG_MS }));
  const second = watch(givingWay.standAside({ turns: 3, mostMs: LONG_MS }));
  givingWay.turnEnded(2);
  await turnOfTheLoop();
  expect([first.goesOn, second.goesOn]).toEqual([true, true]);

  const third = givingWay.standAside({ turns: 2, mostMs: LONG_MS });
  await givingWay.standAside({ turns: 2, mostMs: LONG_MS });
  await third;
});

test("others that never are through hold nobody up for long", async () => {
  await expect(new GivingWay().standAside({ turns: 2, mostMs: 20 })).resolves.toBeUndefined();
});
