import { setTimeout as pause } from "node:timers/promises";
import { judge, type Decision, type Live } from "../../rounds/live.ts";
import type { KeyStory } from "./key-story.ts";

/** What came of the events of the key, some time after one of them went wrong. */
export interface Aftermath {
  readonly movesAgainAfterMs: number | null;
  readonly decided: number;
  readonly of: number;
  readonly inversions: number;
  readonly doubled: number;
  /** Events published after the unlucky one and decided before it. */
  readonly overtaken: number;
}

const LOOK_EVERY_MS = 50;

/** Looks until every event of the key is decided, or the time is over. `sinceMs` is on the clock of `Date.now()`. */
export async function awaitAftermath(
  live: Live,
  story: KeyStory,
  { sinceMs, withinMs, signal }: { sinceMs: number; withinMs: number; signal: AbortSignal },
): Promise<Aftermath> {
  const { lcid, events } = story;
  let movesAgainAfterMs: number | null = null;
  let decisions: readonly Decision[] = [];
  for (;;) {
    decisions = await live.decisions([lcid]);
    // Remembered from the first look that finds one: an event that waited for another is decided again later.
    movesAgainAfterMs ??= firstAfter(decisions, { sinceMs, withinMs });
    if (decisions.length === events.length || Date.now() - sinceMs >= withinMs) break;
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  const { inversions, doubled } = await judge(live, events);
  return {
    movesAgainAfterMs,
    decided: decisions.length,
    of: events.length,
    inversions,
    doubled,
    overtaken: overtakenOf(decisions, story),
  };
}

function firstAfter(
  decisions: readonly Decision[],
  { sinceMs, withinMs }: { sinceMs: number; withinMs: number },
): number | null {
  const after = decisions
    .map(({ decidedAtMs }) => decidedAtMs - sinceMs)
    .filter((ms) => ms > 0 && ms <= withinMs);
  return after.length === 0 ? null : Math.min(...after);
}

function overtakenOf(decisions: readonly Decision[], { events, unlucky }: KeyStory): number {
  const seqOf = new Map(decisions.map(({ id, seq }) => [id, seq]));
  const unluckySeq = seqOf.get(unlucky.id) ?? Number.POSITIVE_INFINITY;
  const behind = events.slice(events.findIndex(({ id }) => id === unlucky.id) + 1);
  return behind.filter(({ id }) => (seqOf.get(id) ?? Number.POSITIVE_INFINITY) < unluckySeq).length;
}
