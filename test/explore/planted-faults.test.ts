import { afterEach, describe, expect, test } from "vitest";
import { interleavings } from "../fleet/interleavings-property.ts";
import type { LaneExploration } from "../handoff-lock/lane-property.ts";
import { openLaneExploration } from "../handoff-lock/lane-property.ts";
import type { Spoiled } from "../handoff-lock/spoiled-script.ts";
import { spoilScript } from "../handoff-lock/spoiled-script.ts";
import type { Exploration } from "../support/exploration.ts";
import { assertExplored } from "../support/exploration.ts";

/** A bound for slow machines: finding a fault takes seconds, and so does making its schedule small. */
const LONG_MS = 240_000;
const SEED = 5;

const opened: LaneExploration[] = [];
afterEach(async () => {
  for (const lane of opened.splice(0)) await lane.close();
});

async function openLane(spoiled: Spoiled | null): Promise<Exploration> {
  const lane = await openLaneExploration((redis) => {
    if (spoiled !== null) spoilScript(redis, spoiled);
  });
  opened.push(lane);
  return lane.exploration;
}

/** What the ordinary test run prints about the exploration. */
async function failureOf(exploration: Exploration): Promise<string> {
  const failure: unknown = await assertExplored(exploration, {
    seed: SEED,
    schedules: 1_000,
    atLeast: 1_000,
  }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  return (failure as Error).message;
}

function pathIn(failure: string, name: string): string {
  const replay = new RegExp(
    String.raw`^Replay: npm run explore -- --only ${name} --seed ${SEED} --path (\S+)$`,
    "m",
  );
  return replay.exec(failure)?.[1] ?? "no replay command was printed";
}

describe("a script of the lane", () => {
  test.each<{ says: string; broken: RegExp; spoiled: Spoiled }>([
    {
      says: "lets a holder hand off with any token",
      broken: /^(I1: |the answer to handOff)/,
      spoiled: { script: "handoff", guard: "redis.call('GET', lock) ~= ARGV[1]", without: "false" },
    },
    {
      says: "lets whoever enters overtake",
      broken: /^I3: /,
      spoiled: {
        script: "enter",
        guard: "redis.call('RPUSH', wait, key)",
        without: "redis.call('LPUSH', wait, key)",
      },
    },
  ])(
    "that $says is found, and the printed seed and path lead to the same failure",
    async ({ broken, spoiled }) => {
      const failure = await failureOf(await openLane(spoiled));
      expect(failure).toMatch(broken);
      const path = pathIn(failure, "lane");
      const again = await (await openLane(spoiled)).replay({ seed: SEED, path });
      expect(failure.startsWith(`${again?.broken}\n`)).toBe(true);
      expect(failure).toContain(`Counterexample: ${again?.counterexample}`);
      expect(await (await openLane(null)).replay({ seed: SEED, path })).toBeNull();
    },
    LONG_MS,
  );
});

test(
  "lanes that hand out the youngest request first are found by the worker's interleavings, and the seed replays",
  async () => {
    const spoiled = (): Exploration =>
      interleavings("smooth", (lanes) => ({
        ...lanes,
        enter: async (lcid, request) => {
          const entry = await lanes.enter(lcid, request);
          if (entry.kind !== "turn") return entry;
          return { kind: "turn", turn: { ...entry.turn, requests: entry.turn.requests.toReversed() } };
        },
      }));
    const failure = await failureOf(spoiled());
    expect(failure).toMatch(/^first decisions in publish order\n/);
    const path = pathIn(failure, "smooth");
    const again = await spoiled().replay({ seed: SEED, path });
    expect(again?.broken).toBe("first decisions in publish order");
    expect(again?.counterexample).toContain('"events":[');
    expect(await interleavings("smooth").replay({ seed: SEED, path })).toBeNull();
  },
  LONG_MS,
);
