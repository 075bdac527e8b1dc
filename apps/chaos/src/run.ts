import { setTimeout as pause } from "node:timers/promises";
import { Random } from "@junban/order-stories";
import { readStored, thinkReference, unlessAborted, verdictOf, type Verdict } from "@junban/trial";
import { takenBackThatArrived, untilCarriedOn } from "./edges/upstream-in.ts";
import type { Fault } from "./faults/fault.ts";
import { Recoveries } from "./recovery.ts";
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
  /** One sentence for each thing that is wrong. */
  readonly wrong: readonly string[];
  /** One sentence for each recovery that came later than promised. */
  readonly late: readonly string[];
}

const EVENTS_PER_SECOND = 300;
/** Acknowledged before the first strike: by then every process is at work. */
const WARM_UP_EVENTS = 100;
const FLOWS_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 25;
const FLOW_ENDS_WITHIN_MS = 60_000;
const IDLE_WITHIN = "90s";
const NEWS_END_WITHIN_MS = 60_000;
const CARRIED_ON_WITHIN_MS = 60_000;
const SENTENCES_KEPT = 20;
/** The store counts no further. */
const OUTBOX_COUNTED = 100_000;

/** Every figure is as promised, nothing else went wrong, and nothing came late. */
export function hasPassed(report: Omit<RunReport, "fault" | "seed" | "published" | "applied">): boolean {
  const { lost, doubleApplied, inversions, drift, orderPromised, recoveredMs, wrong, late } = report;
  const isWhole = lost === 0 && doubleApplied === 0 && drift === 0 && (!orderPromised || inversions === 0);
  return isWhole && recoveredMs !== null && wrong.length === 0 && late.length === 0;
}

/** One fault against a fresh fleet: events flow, the fault strikes for so many seconds, the flow ends, all is counted. */
export async function runFault(options: RunOptions): Promise<RunReport> {
  const { fault, servers, seed, signal } = options;
  const closings: Closings = [];
  try {
    const stage = await setStage({
      servers,
      eventsPerSecond: EVENTS_PER_SECOND,
      edges: fault.edges ?? [],
      seed,
      spareOne: false,
      signal,
      closings,
    });
    stage.flow.start();
    await untilItFlows(stage, signal);
    const recoveries = new Recoveries(stage);
    const struck = await strikeAgainAndAgain(stage, recoveries, options);
    await comeToRest(stage, signal);
    const verdict = await judge(stage, fault, signal);
    return reportOf(options, { stage, recoveries, struck, verdict });
  } finally {
    for (const close of closings.toReversed()) await close().catch(() => undefined);
  }
}

async function untilItFlows(stage: Stage, signal: AbortSignal): Promise<void> {
  const untilMs = performance.now() + FLOWS_WITHIN_MS;
  while (stage.flow.published < WARM_UP_EVENTS && performance.now() < untilMs) {
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  if (stage.flow.published < WARM_UP_EVENTS) stage.wrong("hardly anything flowed before the first strike");
}

/** Answers how often it struck. */
async function strikeAgainAndAgain(
  stage: Stage,
  recoveries: Recoveries,
  options: RunOptions,
): Promise<number> {
  const { fault, seconds, seed, signal, say } = options;
  const random = new Random(seed, "chaos", fault.name);
  const startedMs = performance.now();
  const isOver = (): boolean => performance.now() - startedMs >= seconds * 1_000;
  let struck = 0;
  while (struck < fault.leastStrikes || !isOver()) {
    const striking = fault.strike(stage, { random, struck, runSeconds: seconds, signal });
    const strike = await unlessAborted(striking, signal);
    struck += 1;
    say(await recoveries.from({ boundMs: fault.boundMs, ...strike, signal }));
    if (strike.aftercare !== undefined) await unlessAborted(strike.aftercare(), signal);
    await pause(fault.calmMs, undefined, { signal });
  }
  return struck;
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
  if (stage.upstreamIn !== null) {
    const withinMs = CARRIED_ON_WITHIN_MS;
    const left = await untilCarriedOn(stage.upstreamIn, { withinMs, signal });
    if (left !== null) stage.wrong(left);
  }
  const idle = await unlessAborted(stage.command(["wait-idle", "--timeout", IDLE_WITHIN]), signal);
  if (idle.code !== 0) stage.wrong(`the fleet did not come to rest: ${idle.output}`);
  const families = Object.values(await stage.queues.counts());
  const failed = families.reduce((sum, family) => sum + family.failed, 0);
  if (failed > 0) stage.wrong(`${failed} jobs ended as failed, and none of these events should`);
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
  const verdict = verdictOf({ ...stored, sendings, reference });
  await lookAtTheNews(stage, { applied: verdict.applied, lcids, signal });
  if (stage.upstreamIn !== null) {
    for (const sentence of await takenBackThatArrived(stage.upstreamIn, stage)) stage.wrong(sentence);
  }
  return verdict;
}

/** Without relays every row waits in the outbox; with them a subscriber was shown every version, once and rising. */
async function lookAtTheNews(
  stage: Stage,
  { applied, lcids, signal }: { applied: number; lcids: readonly string[]; signal: AbortSignal },
): Promise<void> {
  const { newsOut, store } = stage;
  if (newsOut !== null) await newsOut.journal.all(applied, { withinMs: NEWS_END_WITHIN_MS, signal });
  const { outboxUnpublished, outboxParked } = await store.gauges();
  const waiting = newsOut === null ? Math.min(applied, OUTBOX_COUNTED) : 0;
  if (outboxUnpublished !== waiting || outboxParked > 0) {
    stage.wrong(
      `${applied} events were applied; ${outboxUnpublished} rows wait in the outbox, and ${outboxParked} are parked`,
    );
  }
  if (newsOut === null) return;
  const reached = new Map<string, number>();
  for (const lcid of lcids) reached.set(lcid, (await store.readOrder(lcid))?.version ?? 0);
  for (const sentence of newsOut.journal.findings(reached)) stage.wrong(sentence);
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
  run: {
    readonly stage: Stage;
    readonly recoveries: Recoveries;
    readonly struck: number;
    readonly verdict: Verdict;
  },
): RunReport {
  const { stage, recoveries, verdict } = run;
  const { published, applied, lost, doubled, inversions, drift } = verdict;
  const { boundMs, keepsOrder } = fault;
  const isBroken = lost > 0 || doubled > 0 || drift > 0 || (keepsOrder && inversions > 0);
  const wrong = [...stage.troubles, ...(isBroken ? verdict.wrong : [])];
  return {
    fault: fault.name,
    seed,
    published,
    applied,
    lost,
    doubleApplied: doubled,
    inversions,
    drift,
    faultsInjected: run.struck,
    recoveredMs: recoveries.longestMs,
    boundMs,
    orderPromised: keepsOrder,
    wrong: wrong.slice(0, SENTENCES_KEPT),
    late: recoveries.late,
  };
}

/** The report of a run that could not be finished. */
export function brokenOff(
  { name, boundMs, keepsOrder }: Fault,
  { seed, error }: { readonly seed: number; readonly error: unknown },
): RunReport {
  const says = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    fault: name,
    seed,
    published: 0,
    applied: 0,
    lost: 0,
    doubleApplied: 0,
    inversions: 0,
    drift: 0,
    faultsInjected: 0,
    recoveredMs: null,
    boundMs,
    orderPromised: keepsOrder,
    wrong: [`the run broke off: ${says}`],
    late: [],
  };
}
