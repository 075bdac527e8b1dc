import type { EventEnvelope } from "@junban/orders";
import { unlessAborted } from "@junban/trial";
import type { Contender } from "../contenders/contender.ts";
import { doubledOf, placesOf, type Judgement } from "./judging.ts";
import { startLive, type Live, type LiveOptions } from "./live.ts";
import type { CpuSeconds } from "./process-figures.ts";
import { workedOff } from "./working-off.ts";

export interface BacklogRound {
  readonly seconds: number;
  /** Events that were decided, or taken where nothing is applied. */
  readonly decided: number;
  /** Jobs left when the contender was cut off; 0 when it was not. */
  readonly left: number;
  /** From the moment the backlog was let go to each event's decision; one that was not decided took for ever. */
  readonly latenciesMs: readonly number[] | null;
  /** Null where nothing is applied. */
  readonly judgement: Judgement | null;
  /** Used from that moment to the end. */
  readonly cpu: CpuSeconds | null;
}

export interface BacklogRoundOptions extends LiveOptions {
  readonly events: readonly EventEnvelope[];
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

/** Stops a warm contender, publishes everything, lets it go, and looks until nothing is left or the time is over. */
export async function backlogRound(
  contender: Contender,
  options: BacklogRoundOptions,
): Promise<BacklogRound> {
  const { events, withinMs, signal } = options;
  const live = await startLive(contender, options);
  try {
    live.freeze();
    await unlessAborted(live.carrier.publish(events), signal);
    const before = await live.cpuSeconds();
    // Decisions carry the clock of a server on this very machine.
    const wallMs = Date.now();
    const letGoMs = live.letGo();
    const { left, atMs } = await workedOff(live, { withinMs, signal });
    const cpu = between(before, await live.cpuSeconds());
    if (left > 0) for (const tree of live.trees) tree.signal("SIGKILL");
    const taken = { seconds: (atMs - letGoMs) / 1_000, left, cpu };
    if (!contender.applies) {
      return { ...taken, decided: events.length - left, latenciesMs: null, judgement: null };
    }
    return { ...taken, ...(await unlessAborted(decided(live, { events, wallMs }), signal)) };
  } finally {
    await live.stop();
  }
}

async function decided(
  live: Live,
  { events, wallMs }: { events: readonly EventEnvelope[]; wallMs: number },
): Promise<Pick<BacklogRound, "decided" | "latenciesMs" | "judgement">> {
  const lcids = [...new Set(events.map(({ lcid }) => lcid))];
  const decisions = await live.decisions(lcids);
  const places = placesOf(events, decisions);
  const latenciesMs = decisions.map(({ decidedAtMs }) => Math.max(0, decidedAtMs - wallMs));
  const never = Array.from({ length: places.lost }, () => Number.POSITIVE_INFINITY);
  return {
    decided: events.length - places.lost,
    latenciesMs: [...latenciesMs, ...never],
    judgement: { ...places, doubled: await doubledOf(live, lcids) },
  };
}

function between(before: CpuSeconds | null, after: CpuSeconds | null): CpuSeconds | null {
  if (before === null || after === null) return null;
  return {
    node: after.node - before.node,
    redis: after.redis - before.redis,
    postgres: after.postgres - before.postgres,
  };
}
