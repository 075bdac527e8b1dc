import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { EndsUnderWay } from "../../packages/event-queues/src/ends-under-way.ts";
import type { SentEnds } from "../../packages/event-queues/src/ends-under-way.ts";
import { createGate } from "./setting.ts";
import type { Gate } from "./setting.ts";

/** Sends as many jobs a call as it may until none of so many is left, and opens what it is told to. */
class Ending {
  readonly calls: { readonly jobs: number; readonly gate: Gate }[] = [];
  readonly #underWay: EndsUnderWay;
  #left: number;

  constructor(underWay: EndsUnderWay, jobs: number) {
    this.#underWay = underWay;
    this.#left = jobs;
    this.#ask();
  }

  get sizes(): number[] {
    return this.calls.map(({ jobs }) => jobs);
  }

  async answer(call: number): Promise<void> {
    this.calls[call]?.gate.open();
    await turnOfTheLoop();
  }

  #ask(): void {
    this.#underWay.whenThereIsRoom((most) => this.#send(most));
  }

  #send(most: number): SentEnds {
    const jobs = Math.min(most, this.#left);
    const gate = createGate();
    this.#left -= jobs;
    this.calls.push({ jobs, gate });
    if (this.#left > 0) this.#ask();
    return { jobs, answered: gate.opened };
  }
}

test("no more than 128 jobs are ended before some are answered, and then those that waited, in their order", async () => {
  const underWay = new EndsUnderWay();
  const [first, many] = [new Ending(underWay, 64), new Ending(underWay, 150)];
  const last = new Ending(underWay, 1);
  expect([first.sizes, many.sizes, last.sizes]).toEqual([[64], [64], []]);

  await first.answer(0);
  expect([many.sizes, last.sizes]).toEqual([[64, 64], []]);
  await many.answer(0);
  expect([many.sizes, last.sizes]).toEqual([[64, 64, 22], [1]]);
});

test("whoever asks again while sending is counted with what it sends first", async () => {
  const ending = new Ending(new EndsUnderWay(), 1_000);
  expect(ending.sizes).toEqual([64, 64]);
  await ending.answer(0);
  expect(ending.sizes).toEqual([64, 64, 64]);
});

test("half as much is sent at a time while deep lanes hold the slots of a queue, or of another one", async () => {
  const underWay = new EndsUnderWay();
  underWay.crowdBegan();
  underWay.crowdBegan();
  const ending = new Ending(underWay, 1_000);
  expect(ending.sizes).toEqual([32, 32]);
  underWay.crowdEnded();
  await ending.answer(0);
  expect(ending.sizes).toEqual([32, 32, 32]);
  underWay.crowdEnded();
  await ending.answer(1);
  expect(ending.sizes).toEqual([32, 32, 32, 64, 64]);
});

test("less is sent at a time while others wait, and as much as ever a while later", async () => {
  let nowMs = 1_000;
  const underWay = new EndsUnderWay({ clock: () => nowMs });
  underWay.makeRoom();
  const ending = new Ending(underWay, 1_000);
  expect(ending.sizes).toEqual([16, 16]);
  await ending.answer(0);
  expect(ending.sizes).toEqual([16, 16, 16]);

  nowMs += 100;
  await ending.answer(1);
  expect(ending.sizes).toEqual([16, 16, 16, 64, 64]);
});
