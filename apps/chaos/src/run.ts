import { setTimeout as pause } from "node:timers/promises";
import { Random } from "@junban/order-stories";
import { readStored, thinkReference, unlessAborted, verdictOf, type Verdict } from "@junban/trial";
import type { Fault, Strike } from "./faults/fault.ts";
import { untilRecovered } from "./recovery.ts";
import { setStage, type Closings, type Servers, type Stage } from "./stage.ts";

export interface RunOptions {
  readonly fault: Fault;
  readonly seconds: number;
  readonly seed: number;
  readonly servers: Servers;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** What one fault did to a fleet, and what the fleet made of it. */
export interface RunReport {
  readonly fault: string;
  readonly seed: number;
  readonly published: number;
  readonly applied: number;
  readonly lost: number;
  readonly doubleApplied: number;
  readonly inversions: number;
  readonly drift: number;
  readonly faultsInjected: number;
  /** The longest time until every lane that stood at a strike moved, and new events were decided; null when that never came. */
  readonly recoveredMs: number | null;
  readonly boundMs: number;
  /** Whether the order of first decisions was promised. */
  readonly orderPromised: boolean;
  /** One sentence for each thing that is wrong; empty exactly when the run passed. */
  readonly wrong: readonly string[];
}

const EVENTS_PER_SECOND = 300;
/** Events flow for so long before the first strike. */
const WARM_UP_MS = 1_000;
const FLOW_ENDS_WITHIN_MS = 60_000;
const IDLE_WITHIN = "90s";
const SENTENCES_KEPT = 20;

interface Strikes {
  readonly count: number;
  readonly recoveredMs: number | null;
}

/** One fault against a fresh fleet: events flow, the fault strikes for so many seconds, the flow ends, all is counted. */
export async function runFault(options: RunOptions): Promise<RunReport> {
  const { fault, servers, seed, signal } = options;
  const closings: Closings = [];
  try {
    const stage = await setStage({
      servers,
      eventsPerSecond: EVENTS_PER_SECOND,
      seed,
      spareOne: false,
      signal,
      closings,
    });
    stage.flow.start();
    await pause(WARM_UP_MS, undefined, { signal });
    const strikes = await strikeAgainAndAgain(stage, options);
    await comeToRest(stage, signal);
    const verdict = await judge(stage, fault, signal);
    return reportOf(options, { stage, strikes, verdict });
  } finally {
    for (const close of closings.toReversed()) await close().catch(() => undefined);
  }
}

async function strikeAgainAndAgain(stage: Stage, options: RunOptions): Promise<Strikes> {
  const { fault, seconds, seed, signal, say } = options;
  const random = new Random(seed, "chaos", fault.name);
  const startedMs = performance.now();
  const isOver = (): boolean => performance.now() - startedMs >= seconds * 1_000;
  let recoveredMs: number | null = 0;
  let struck = 0;
  while (struck < fault.leastStrikes || !isOver()) {
    const strike = await fault.strike(stage, { random, struck, runSeconds: seconds, signal });
    struck += 1;
    const movedMs = await recoveryOf(stage, strike, options);
    recoveredMs = movedMs === null || recoveredMs === null ? null : Math.max(recoveredMs, movedMs);
    say(`${strike.says}; ${movedMs === null ? "it did not recover" : `recovered within ${movedMs} ms`}`);
    await strike.aftercare?.();
    await pause(fault.calmMs, undefined, { signal });
  }
  return { count: struck, recoveredMs };
}

async function recoveryOf(
  stage: Stage,
  { sinceMs, says, boundMs: ownBoundMs }: Strike,
  { fault, signal }: RunOptions,
): Promise<number | null> {
  const boundMs = ownBoundMs ?? fault.boundMs;
  const movedMs = await untilRecovered(stage, { sinceMs, boundMs, signal });
  if (movedMs === null) {
    stage.wrong(`${says}: not recovered ${boundMs} ms later, nor long after`);
  } else if (movedMs > boundMs) {
    stage.wrong(`${says}: recovered after ${movedMs} ms; ${boundMs} are promised`);
  }
  return movedMs;
}

/** Ends the flow once all of it is acknowledged, and waits until the fleet has nothing left to do. */
export async function comeToRest(stage: Stage, signal: AbortSignal): Promise<void> {
  await stage.fillCrew();
  const inTime = new AbortController();
  const tooLate = pause(FLOW_ENDS_WITHIN_MS, "late" as const, { signal: inTime.signal }).catch(
    () => "in time",
  );
  const ended = await unlessAborted(Promise.race([stage.flow.stop(), tooLate]), signal);
  inTime.abort();
  if (ended === "late") {
    stage.wrong(
      `publishers could not get everything acknowledged: ${JSON.stringify([...stage.flow.refusals])}`,
    );
  }
  const idle = await unlessAborted(stage.command(["wait-idle", "--timeout", IDLE_WITHIN]), signal);
  if (idle.code !== 0) stage.wrong(`the fleet did not come to rest: ${idle.output}`);
}

export async function judge(
  stage: Stage,
  { keepsOrder }: Pick<Fault, "keepsOrder">,
  signal: AbortSignal,
): Promise<Verdict> {
  const sendings = stage.flow.acknowledged();
  const lcids = [...new Set(sendings.map(({ lcid }) => lcid))];
  const stored = await readStored({ store: stage.store, lcids, signal, onProgress: () => undefined });
  // Where a lane may lose its line, an order is compared with what must come of the order in which it was decided.
  const published = keepsOrder ? sendings : asDecided(sendings, stored.events);
  const reference = await thinkReference(published, { signal });
  return verdictOf({ ...stored, sendings, reference });
}

function asDecided<Event extends { source: string; id: string }>(
  sendings: readonly Event[],
  decided: readonly { source: string; id: string; seq: number }[],
): readonly Event[] {
  const nameOf = ({ source, id }: { source: string; id: string }): string => JSON.stringify([source, id]);
  const places = new Map(decided.map((event) => [nameOf(event), event.seq]));
  const placeOf = (event: Event): number => places.get(nameOf(event)) ?? Number.POSITIVE_INFINITY;
  return sendings.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function reportOf(
  { fault, seed }: RunOptions,
  { stage, strikes, verdict }: { stage: Stage; strikes: Strikes; verdict: Verdict },
): RunReport {
  const { published, applied, lost, doubled, inversions, drift } = verdict;
  const { recoveredMs } = strikes;
  const { boundMs, keepsOrder } = fault;
  const wrong = [...stage.troubles];
  const isBroken = lost > 0 || doubled > 0 || drift > 0 || (keepsOrder && inversions > 0);
  if (isBroken) wrong.push(...verdict.wrong);
  return {
    fault: fault.name,
    seed,
    published,
    applied,
    lost,
    doubleApplied: doubled,
    inversions,
    drift,
    faultsInjected: strikes.count,
    recoveredMs,
    boundMs,
    orderPromised: keepsOrder,
    wrong: wrong.slice(0, SENTENCES_KEPT),
  };
}
