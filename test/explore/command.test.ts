import { fileURLToPath } from "node:url";
import type { ProcessTree } from "@junban/sandbox";
import { startProcess } from "@junban/sandbox";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { assertExplored, Exploration } from "../support/exploration.ts";
import { explore } from "./command.ts";
import type { ExploreOptions } from "./options.ts";
import { readOptions } from "./options.ts";

const PROGRAM = fileURLToPath(new URL("main.ts", import.meta.url));
const LONG_MS = 120_000;

/** Three dice that must not add up to too much. */
function dice(limit: number): Exploration {
  return Exploration.of({
    name: "dice",
    kinds: ["roll", "a die that stands on its edge"],
    property: (tally) =>
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 3, maxLength: 3 }), (dots) => {
        tally.step("roll");
        const sum = dots.reduce((before, more) => before + more);
        return sum > limit ? Promise.reject(new Error(`the dice show ${sum}`)) : Promise.resolve();
      }),
  });
}

interface Ran {
  readonly code: number;
  readonly said: string;
  readonly printed: string;
}

async function run(
  explorations: readonly Exploration[],
  given: Partial<ExploreOptions> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Ran> {
  const said: string[] = [];
  const printed: string[] = [];
  const options = { minutes: 0.001, seed: 7, only: [], path: null, json: false, ...given };
  const code = await explore(explorations, options, {
    signal,
    say: (line) => said.push(line),
    print: (line) => printed.push(line),
  });
  return { code, said: said.join("\n"), printed: printed.join("\n") };
}

describe("the command", () => {
  test("ends with 0 when the time is over, and shows how often what happened and what never did", async () => {
    const { code, said, printed } = await run([dice(18)]);
    expect(code).toBe(0);
    expect(said).toMatch(/^dice: \d+ schedules, \d+ steps$/m);
    expect(said).toMatch(/^ +\d+ {2}roll$/m);
    expect(said).toMatch(/^ +0 {2}a die that stands on its edge {2}<- never$/m);
    expect(said).toMatch(/from seed 7: nothing found$/);
    expect(printed).toBe("");
  });

  test("ends with 1 when something is found, made as small as possible, with the command that shows it again", async () => {
    const { code, said, printed } = await run([dice(17)], { minutes: 1, json: true });
    expect(code).toBe(1);
    expect(said).toContain("the dice show 18");
    expect(said).toContain("Counterexample: [[6,6,6]]");
    const { finding } = JSON.parse(printed) as { finding: { seed: number; path: string; replay: string } };
    const { seed, path, replay } = finding;
    expect(replay).toBe(`npm run explore -- --only dice --seed ${seed} --path ${path}`);
    expect(said).toContain(`Replay: ${replay}`);
    expect(await run([dice(17)], { seed, path })).toMatchObject({ code: 1 });
    expect(await run([dice(18)], { seed, path })).toMatchObject({
      code: 0,
      said: "this schedule breaks nothing",
    });
  });

  test("the same seed tries the same schedules", async () => {
    const [first, second] = [await run([dice(17)], { minutes: 1 }), await run([dice(17)], { minutes: 1 })];
    const replayIn = (said: string): string => said.slice(said.indexOf("Replay:"));
    expect(replayIn(first.said)).toBe(replayIn(second.said));
  });

  test("tries a few schedules of everything, however short the time is", async () => {
    const explorations = [dice(18), dice(18), dice(18)];
    expect(await run(explorations, { minutes: 0 })).toMatchObject({ code: 0 });
    for (const { schedules } of explorations) expect(schedules).toBeGreaterThanOrEqual(20);
  });

  test("ends with 130 and says what it did when it is stopped", async () => {
    const { code, said } = await run([dice(18)], { minutes: 60 }, AbortSignal.timeout(50));
    expect(code).toBe(130);
    expect(said).toMatch(/^dice: \d+ schedules, \d+ steps$/m);
    expect(said).toMatch(/stopped before its time was over; nothing found so far$/);
  });
});

describe("the ordinary test run", () => {
  test("does not end below its floor, and says so when it was cut short", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    const exploration = dice(18);
    await assertExplored(exploration, { schedules: 1_000, atLeast: 30, limitMs: 0 });
    expect(exploration.schedules).toBe(30);
    expect(warned.mock.lastCall?.[0]).toMatch(
      /^dice: cut short after 0 ms with 30 of 1000 schedules \(seed \d+\)$/,
    );
    warned.mockRestore();
  });

  test("fails when something that it should have met never happened", async () => {
    await expect(assertExplored(dice(18), { seed: 7, schedules: 50, atLeast: 50 })).rejects.toThrow(
      "dice: in 50 schedules of seed 7 there was no a die that stands on its edge",
    );
  });
});

describe("npm run explore", () => {
  const started: ProcessTree[] = [];
  afterEach(async () => {
    for (const tree of started.splice(0)) await tree.stop();
  });

  async function start(...args: readonly string[]): Promise<ProcessTree> {
    const options = ["--conditions", "@junban/source", "--import", "tsx", PROGRAM, ...args];
    const tree = await startProcess({ command: process.execPath, args: options });
    started.push(tree);
    return tree;
  }

  test(
    "explores the lane and every interleaving, on a Redis of its own",
    async () => {
      const tree = await start("--minutes", "0.01", "--json");
      expect(await tree.exited).toMatchObject({ code: 0 });
      const { explorations, finding } = JSON.parse(tree.stdout()) as {
        explorations: { name: string; schedules: number; steps: number }[];
        finding: unknown;
      };
      expect(finding).toBeNull();
      expect(explorations.map(({ name }) => name)).toEqual([
        "lane",
        "smooth",
        "stops",
        "misfortunes",
        "deaths",
        "unqueued",
        "maintenance",
        "lost-lanes",
      ]);
      for (const { schedules, steps } of explorations) expect(steps).toBeGreaterThan(schedules);
    },
    LONG_MS,
  );

  test(
    "ends at Ctrl-C with 130 and a summary",
    async () => {
      const tree = await start("--minutes", "60", "--only", "smooth");
      await tree.waitForLine(/^smooth for 60 minutes from seed \d+$/, { withinMs: LONG_MS });
      tree.signal("SIGINT");
      expect(await tree.exited).toMatchObject({ code: 130 });
      expect(tree.stdout()).toMatch(/stopped before its time was over; nothing found so far\n$/);
    },
    LONG_MS,
  );

  test(
    "ends with 2 at bad usage, and shows what is allowed",
    async () => {
      const tree = await start("--hours", "1");
      expect(await tree.exited).toMatchObject({ code: 2 });
      expect(tree.stderr()).toContain("npm run explore -- --minutes N");
    },
    LONG_MS,
  );
});

describe("options", () => {
  const names = ["lane", "smooth", "deaths"];

  test("name explorations one by one or as the interleavings", () => {
    expect(readOptions(["--only", "interleavings"], names).only).toEqual(["smooth", "deaths"]);
    expect(readOptions(["--only", "lane", "--only", "deaths", "--seed", "0"], names)).toEqual({
      minutes: 10,
      seed: 0,
      only: ["lane", "deaths"],
      path: null,
      json: false,
    });
  });

  test.each([
    ["a time that is none", ["--minutes", "soon"]],
    ["no time at all", ["--minutes", "0"]],
    ["a seed that is none", ["--seed", "1.5"]],
    ["an exploration that does not exist", ["--only", "luck"]],
    ["a path without the rest of its finding", ["--path", "1:2"]],
    ["a path with figures about it", ["--only", "lane", "--seed", "1", "--path", "1:2", "--json"]],
    ["a path that is none", ["--only", "lane", "--seed", "1", "--path", "1:x"]],
  ])("refuse %s", (_, args) => {
    expect(() => readOptions(args, names)).toThrow(TypeError);
  });
});
