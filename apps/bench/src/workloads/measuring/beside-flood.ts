import { setTimeout as pause } from "node:timers/promises";
import type { EventEnvelope } from "@junban/orders";
import { startProcess, type ProcessTree } from "@junban/sandbox";
import { unlessAborted } from "@junban/trial";
import type { Contender } from "../../contenders/contender.ts";
import { processScript, STARTED_LINE } from "../../contenders/process-script.ts";
import { environmentOf, startLive, type Decision, type Live } from "../../rounds/live.ts";
import type { Stage } from "../workload.ts";
import { ProducerFailedError, UndecidedError } from "./errors.ts";
import { FLOOD_LCID, lastDecidedMs, outlasts, type FairnessArm, type Flood } from "./flood.ts";
import { offer } from "./pacing.ts";
import { spreadOf, tookMsOf, type Spread } from "./spread.ts";

export interface BesideFlood {
  readonly arm: FairnessArm;
  readonly flood: Flood;
  readonly singles: readonly EventEnvelope[];
  readonly perSecond: number;
  readonly floodCall: number;
  readonly prefix: string;
  readonly warmUp?: number;
  readonly stage: Stage;
}

const LOOK_EVERY_MS = 20;
const STARTED_WITHIN_MS = 30_000;
const PUBLISHED_LINE = /^published at (\d+)$/mu;
/** Of a standing flood, before the singles begin. */
const WORKED_OFF_SHARE = 0.1;

interface Singles {
  readonly decisions: readonly Decision[];
  readonly spread: Spread;
}

/** How long the singles took from publishing to decision; null when the flood beside them was over before they were. */
export async function besideFlood(contender: Contender, options: BesideFlood): Promise<Spread | null> {
  const { stage, prefix, warmUp } = options;
  const { sandbox, signal } = stage;
  const live = await startLive(contender, {
    sandbox,
    prefix,
    signal,
    ...(warmUp === undefined ? {} : { warmUp }),
  });
  try {
    switch (options.arm) {
      case "quiet":
        return (await decidedSingles(live, options)).spread;
      case "flooded":
        return await whileWorkedOff(live, options);
      case "flooding":
        return await whilePublished(live, options);
    }
  } finally {
    await live.stop();
  }
}

/**
 * The whole flood stands in line before its first event is decided. The singles begin once a tenth of it is: a process that stood
 * still a moment ago is filling its slots first, and what is asked is how singles fare beside a flood, not beside a start.
 */
async function whileWorkedOff(live: Live, options: BesideFlood): Promise<Spread | null> {
  const { events } = options.flood;
  live.freeze();
  await unlessAborted(live.carrier.publish(events), options.stage.signal);
  live.letGo();
  await begun(live, events.length, options.stage);
  const singles = await decidedSingles(live, options);
  const decisions = await live.decisions([FLOOD_LCID]);
  return outlasts({ published: events.length, decisions }, singles.decisions) ? singles.spread : null;
}

async function begun(live: Live, published: number, { signal, withinMs }: Stage): Promise<void> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const left = await live.carrier.left();
    if (left <= published * (1 - WORKED_OFF_SHARE)) return;
    if (performance.now() > untilMs) throw new UndecidedError({ what: "a flood", left, of: published });
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** As fast as one producer can publish it, in a process of its own: within one, singles would wait behind the flood before Redis. */
async function whilePublished(live: Live, options: BesideFlood): Promise<Spread | null> {
  const producer = await startProcess({
    command: process.execPath,
    args: [processScript("flood")],
    env: {
      ...environmentOf(live.ground),
      BENCH_FLOOD_EVENTS: String(options.flood.events.length),
      BENCH_FLOOD_SEED: String(options.stage.seed),
      BENCH_FLOOD_CALL: String(options.floodCall),
    },
  });
  try {
    const started = producer.waitForLine(STARTED_LINE, { withinMs: STARTED_WITHIN_MS });
    await unlessAborted(started, options.stage.signal);
    const { decisions, spread } = await Promise.race([decidedSingles(live, options), failureOf(producer)]);
    return lastDecidedMs(decisions) < publishedAtMs(producer) ? spread : null;
  } finally {
    await producer.stop({ signal: "SIGKILL" });
  }
}

/** A producer that fails ends the measurement; one that ends by itself does not. */
async function failureOf(producer: ProcessTree): Promise<never> {
  const { code, signal } = await producer.exited;
  if (code === 0) return new Promise<never>(() => undefined);
  throw new ProducerFailedError({ code, signal, said: producer.stderr() });
}

/** When the flood was over; infinity while it is not. */
function publishedAtMs(producer: ProcessTree): number {
  const atMs = PUBLISHED_LINE.exec(producer.stdout())?.[1];
  return atMs === undefined ? Number.POSITIVE_INFINITY : Number(atMs);
}

async function decidedSingles(live: Live, options: BesideFlood): Promise<Singles> {
  const { singles, perSecond, stage } = options;
  const { signal, withinMs } = stage;
  const offered = await offer(live.carrier, singles, { perSecond, signal });
  const untilMs = performance.now() + withinMs;
  const found: Decision[] = [];
  // From the latest back, so that hardly anybody is asked for in vain.
  const pending = singles.map(({ lcid }) => lcid);
  for (let lcid = pending.at(-1); lcid !== undefined; lcid = pending.at(-1)) {
    const [decision] = await live.decisions([lcid]);
    if (decision !== undefined) {
      found.push(decision);
      pending.pop();
      continue;
    }
    if (performance.now() > untilMs) {
      throw new UndecidedError({
        what: "single events of other orders",
        left: pending.length,
        of: singles.length,
      });
    }
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  return { decisions: found, spread: spreadOf(tookMsOf(singles, offered, found)) };
}
