import { setTimeout as pause } from "node:timers/promises";
import type { EventEnvelope } from "@junban/orders";
import { requestKeys, standingLanes } from "./lanes.ts";
import type { Stage } from "./stage.ts";

const LOOK_EVERY_MS = 25;
/** So long after its bound nothing is waited for any more; by then the run has failed anyway. */
const PATIENCE_MS = 30_000;

interface Waiting {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** The recoveries of one run: how long the longest took, and which came later than promised. */
export class Recoveries {
  readonly #stage: Stage;
  readonly #late: string[] = [];
  #longestMs: number | null = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Null when one never came. */
  get longestMs(): number | null {
    return this.#longestMs;
  }

  /** One sentence for each that came after its bound. One that never came is the stage's trouble instead. */
  get late(): readonly string[] {
    return this.#late;
  }

  /** Waits for the recovery from one strike, and says what came of both. */
  async from(strike: {
    readonly says: string;
    readonly sinceMs: number;
    readonly boundMs: number;
    readonly lcid?: string;
    readonly signal: AbortSignal;
  }): Promise<string> {
    const { says, boundMs } = strike;
    const recoveredMs = await untilRecovered(this.#stage, strike);
    if (recoveredMs === null) {
      this.#longestMs = null;
      this.#stage.wrong(`${says}: not recovered ${boundMs} ms later, nor long after`);
      return `${says}; it did not recover`;
    }
    if (this.#longestMs !== null) this.#longestMs = Math.max(this.#longestMs, recoveredMs);
    const sentence = `${says}; recovered within ${recoveredMs} ms`;
    if (recoveredMs > boundMs) this.#late.push(`${sentence}, and ${boundMs} are promised`);
    return sentence;
  }
}

/**
 * Milliseconds from `sinceMs` until the fleet has recovered: in every lane in which undecided events stand now, the first of
 * them is decided; an event that was first sent later is acknowledged and decided, too; and where the holder of one lane was
 * hit, that lane is free or somebody else's. Null when that did not come about within the bound and half a minute more.
 */
async function untilRecovered(
  stage: Stage,
  strike: {
    readonly sinceMs: number;
    readonly boundMs: number;
    readonly lcid?: string;
    readonly signal: AbortSignal;
  },
): Promise<number | null> {
  const { sinceMs, boundMs, lcid, signal } = strike;
  const waiting: Waiting = { sinceMs, untilMs: sinceMs + boundMs + PATIENCE_MS, signal };
  const mark = stage.flow.begun;
  const passedOn = lcid === undefined || (await lanePassedOn(stage, lcid, waiting));
  const stood = await insistently(waiting, async () => firstUndecided(stage));
  const moved = stood !== null && (await allDecided(stage, stood, waiting));
  const fresh = await insistently(waiting, async () => stage.flow.firstSince(mark) ?? null);
  const goesOn = fresh !== null && (await allDecided(stage, [fresh], waiting));
  return passedOn && moved && goesOn ? Math.round(performance.now() - sinceMs) : null;
}

/** The lane whose holder was hit is free, or somebody else's. */
async function lanePassedOn({ lanes }: Stage, lcid: string, waiting: Waiting): Promise<boolean> {
  const before = await insistently(waiting, async () => lanes.inspect(lcid));
  if (before?.holder === null) return true;
  const passedOn = await insistently(waiting, async () => {
    const { holder } = await lanes.inspect(lcid);
    return holder === before?.holder ? null : true;
  });
  return passedOn === true;
}

/** Of every lane the first event that stands in it without a row. */
async function firstUndecided(stage: Stage): Promise<readonly EventEnvelope[]> {
  const firsts: EventEnvelope[] = [];
  for (const lcid of await standingLanes(stage)) {
    const [keys, history] = await Promise.all([requestKeys(stage, lcid), stage.store.readHistory(lcid)]);
    const decided = new Set(history.map(({ source, id }) => nameOf({ source, id })));
    const events = keys.flatMap((key) => stage.flow.eventOf(key) ?? []);
    const first = events.find((event) => !decided.has(nameOf(event)));
    if (first !== undefined) firsts.push(first);
  }
  return firsts;
}

async function allDecided(
  { store }: Pick<Stage, "store">,
  events: readonly EventEnvelope[],
  waiting: Waiting,
): Promise<boolean> {
  let left = events;
  const done = await insistently(waiting, async () => {
    const rows = await Promise.all(left.map(async (event) => store.readEvent(event)));
    left = left.filter((_, index) => rows[index] === null);
    return left.length === 0 ? true : null;
  });
  return done === true;
}

/** Asks until there is an answer; a service that cannot be reached yet has none. Null when the time is over. */
async function insistently<Answer>(
  { untilMs, signal }: Waiting,
  ask: () => Promise<Answer | null>,
): Promise<Answer | null> {
  while (performance.now() < untilMs) {
    signal.throwIfAborted();
    const answer = await ask().catch(() => null);
    if (answer !== null) return answer;
    await pause(LOOK_EVERY_MS);
  }
  return null;
}

function nameOf({ source, id }: Pick<EventEnvelope, "source" | "id">): string {
  return JSON.stringify([source, id]);
}
