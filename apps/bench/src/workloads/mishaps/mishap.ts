import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProcessTree } from "@junban/sandbox";
import { unlessAborted } from "@junban/trial";
import { startLive, type Live } from "../../rounds/live.ts";
import type { Stage } from "../workload.ts";
import { awaitAftermath, type Aftermath } from "./aftermath.ts";
import { armsOf, type Arm } from "./arms.ts";
import { tellKeyStory, type KeyStory } from "./key-story.ts";

/** What goes wrong with one event of a key while the others of that key stand behind it. */
export interface Mishap {
  readonly name: string;
  readonly processes: number;
  /** Variable that names the unlucky event to the processes. */
  readonly variable: "BENCH_HANG_ON" | "BENCH_FAIL_ONCE";
  /** What the process says that has come to that event, before the event's id. */
  readonly says: "holding" | "failing";
  /** Whether the process that said so is killed, at once. */
  readonly kills: boolean;
}

/** One arm and what came of it, round by round. */
export interface ArmOutcome {
  readonly arm: Arm;
  readonly rounds: readonly Aftermath[];
}

/** Longest that is waited for a key to move again; "not within a minute" is an answer. */
const WITHIN_MS = 60_000;
const STRUCK_WITHIN_MS = 30_000;
/** Nothing here is a matter of speed, but the first transaction of a process takes its time. */
const WARM_UP_EVENTS = 200;

export function boundMsOf(stage: Stage): number {
  return Math.min(WITHIN_MS, stage.withinMs);
}

/** Contender by contender, the arms of one side by side: they mostly wait. */
export async function runMishap(mishap: Mishap, stage: Stage): Promise<readonly ArmOutcome[]> {
  const { contenders, rounds, events, seed } = stage;
  const outcomes = contenders.flatMap(armsOf).map((arm) => ({ arm, rounds: [] as Aftermath[] }));
  const folder = await mkdtemp(join(tmpdir(), "junban-bench-"));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < contenders.length; turn += 1) {
        const contender = contenders[(round + turn) % contenders.length];
        // Who did not move once within the bound is not waited for again.
        const asked = outcomes.filter(
          (outcome) => outcome.arm.contender === contender && !outcome.rounds.some(isStuck),
        );
        const story = tellKeyStory({ events, seed: seed + round });
        const aftermaths = await strikeArms(
          mishap,
          asked.map(({ arm }) => arm),
          { stage, story, folder, round },
        );
        for (const [index, aftermath] of aftermaths.entries()) {
          asked[index]?.rounds.push(aftermath);
          stage.say(progressOf(asked[index]?.arm, aftermath, { round, stage }));
        }
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return outcomes;
}

interface Strike {
  readonly stage: Stage;
  readonly story: KeyStory;
  /** Where processes leave their marks. */
  readonly folder: string;
  readonly round: number;
}

/** All arms are warm before the first one is struck, so that none is measured while another starts. */
async function strikeArms(
  mishap: Mishap,
  arms: readonly Arm[],
  strike: Strike,
): Promise<readonly Aftermath[]> {
  const starts = await Promise.allSettled(arms.map(async (arm) => startArm(mishap, arm, strike)));
  try {
    const lives = fulfilledOf(starts);
    return fulfilledOf(await Promise.allSettled(lives.map(async (live) => strikeLive(mishap, live, strike))));
  } finally {
    await Promise.all(
      starts.map(async (start) => (start.status === "fulfilled" ? start.value.stop() : undefined)),
    );
  }
}

async function startArm(mishap: Mishap, arm: Arm, { stage, story, folder, round }: Strike): Promise<Live> {
  stage.signal.throwIfAborted();
  const name = `${mishap.name}-${arm.contender.name}-${arm.settings}-${round}`;
  return startLive(arm.contender, {
    sandbox: stage.sandbox,
    prefix: `bench-${name}`,
    processes: mishap.processes,
    warmUp: WARM_UP_EVENTS,
    signal: stage.signal,
    env: {
      ...arm.env,
      [mishap.variable]: story.unlucky.id,
      BENCH_KEY: story.unluckyKey,
      BENCH_MARK: join(folder, name),
    },
  });
}

async function strikeLive(mishap: Mishap, live: Live, { stage, story }: Strike): Promise<Aftermath> {
  const { signal } = stage;
  const line = `${mishap.says} ${story.unlucky.id}`;
  const struck = firstToSay(live, line).then(({ tree, atMs }) => {
    // At once: a process that stands still as a whole does not renew what it holds, and that time would be given to it.
    if (mishap.kills) tree.signal("SIGKILL");
    return atMs;
  });
  const [sinceMs] = await unlessAborted(Promise.all([struck, live.carrier.publish(story.events)]), signal);
  return awaitAftermath(live, story, { sinceMs, withinMs: boundMsOf(stage), signal });
}

/** When it was said, on the clock of `Date.now()`. */
async function firstToSay(live: Live, line: string): Promise<{ tree: ProcessTree; atMs: number }> {
  return Promise.any(
    live.trees.map(async (tree) => {
      await tree.waitForLine(line, { withinMs: STRUCK_WITHIN_MS });
      return { tree, atMs: Date.now() };
    }),
  );
}

function isStuck({ movesAgainAfterMs }: Aftermath): boolean {
  return movesAgainAfterMs === null;
}

function fulfilledOf<Value>(results: readonly PromiseSettledResult<Value>[]): readonly Value[] {
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

function progressOf(
  arm: Arm | undefined,
  { movesAgainAfterMs, decided, of }: Aftermath,
  { round, stage }: { round: number; stage: Stage },
): string {
  const moves =
    movesAgainAfterMs === null
      ? `did not move within ${boundMsOf(stage) / 1_000} s`
      : `moved after ${(movesAgainAfterMs / 1_000).toFixed(2)} s`;
  const who = `${arm?.contender.name ?? ""} (${arm?.settings ?? ""})`;
  return `round ${round + 1}/${stage.rounds} ${who}: ${moves}, decided ${decided} of ${of}`;
}
