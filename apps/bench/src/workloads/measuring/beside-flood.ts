import { setTimeout as pause } from "node:timers/promises";
import type { EventEnvelope } from "@junban/orders";
import { unlessAborted } from "@junban/trial";
import type { Contender } from "../../contenders/contender.ts";
import { startLive, type Decision, type Live } from "../../rounds/live.ts";
import type { Stage } from "../workload.ts";
import { UndecidedError } from "./errors.ts";
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

/** As fast as it can be published, by a producer of its own: within one, singles would wait behind the flood before Redis. */
async function whilePublished(live: Live, options: BesideFlood): Promise<Spread | null> {
  const { floodCall } = options;
  const { events } = options.flood;
  const producer = await live.contender.open(live.ground);
  const enough = new AbortController();
  let endedAtMs = Number.POSITIVE_INFINITY;
  const publication = (async () => {
    for (let published = 0; published < events.length; published += floodCall) {
      if (enough.signal.aborted) return;
      await producer.publish(events.slice(published, published + floodCall));
    }
    endedAtMs = Date.now();
  })();
  try {
    const singles = await Promise.race([
      decidedSingles(live, options),
      // A publication that fails ends the measurement; one that ends by itself does not.
      publication.then(async () => new Promise<never>(() => undefined)),
    ]);
    return lastDecidedMs(singles.decisions) < endedAtMs ? singles.spread : null;
  } finally {
    enough.abort();
    await publication.catch(() => undefined);
    await producer.close();
  }
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
