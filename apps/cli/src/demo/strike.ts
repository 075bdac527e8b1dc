import { setTimeout as pause } from "node:timers/promises";
import type { EventEnvelope } from "@junban/orders";
import type { Crew, CrewMember } from "@junban/trial";
import type { HotLane } from "./hot-lane.ts";
import { AFTER_LEASE_MS, LANE_BATCH, LEASE_MS } from "./lease.ts";

/** What a worker held when it was killed. */
export interface Strike {
  readonly victim: CrewMember;
  /** Whether the lane was still the victim's: its lock outlives it until the lease ends. */
  readonly held: boolean;
  /** Requests that stood in the lane. */
  readonly depth: number;
  /** How many of them the victim had taken: at most so many, from the first one on. */
  readonly inHands: number;
  /** What the first request carries; null when none stood. */
  readonly first: EventEnvelope | null;
  /** Whether that was committed already, but not yet taken out of the lane. */
  readonly firstIsCommitted: boolean;
  readonly atMs: number;
}

export interface StrikeOptions {
  readonly lane: HotLane;
  readonly crew: Crew;
  /** First sendings of the hot order that were acknowledged so far. */
  readonly published: () => number;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 15;
/** So long after the promised time the demo stops looking for movement, and says so. */
const PATIENCE_MS = 30_000;

/**
 * Kills the worker that holds the hot lane once half of its events were served. Null when the lane was through before its
 * holder could be found: nothing here slows the workers down to be hit more easily.
 */
export async function strikeHolder(options: StrikeOptions): Promise<Strike | null> {
  const { lane, crew } = options;
  const holder = await holderAtHalfTime(options);
  if (holder === null) return null;
  const atMs = performance.now();
  await crew.kill(holder.member);
  const after = await lane.inspect();
  const head = after.headKey === null ? undefined : lane.indexOf(after.headKey);
  const held = after.holder === holder.token;
  return {
    victim: holder.member,
    held,
    depth: after.depth,
    inHands: held ? Math.min(after.depth, LANE_BATCH) : 0,
    first: head === undefined ? null : (lane.events[head] ?? null),
    firstIsCommitted: head !== undefined && (await lane.rowAt(head)) !== null,
    atMs,
  };
}

/** Milliseconds from the kill until somebody else decided the next event of the lane; null when nothing was left to decide. */
export async function movedAgainAfterMs(strike: Strike, options: StrikeOptions): Promise<number | null> {
  const { lane, crew, signal } = options;
  const untilMs = strike.atMs + LEASE_MS + AFTER_LEASE_MS + PATIENCE_MS;
  let next = await lane.decided();
  while (next < lane.events.length && performance.now() < untilMs) {
    signal.throwIfAborted();
    const row = await lane.rowAt(next);
    if (row === null) await pause(LOOK_EVERY_MS);
    // A COMMIT that was already on its way may still have come through after the kill.
    else if (crew.signedBy(row.worker)?.number === strike.victim.number) next += 1;
    else return Math.round(performance.now() - strike.atMs);
  }
  return null;
}

interface Holder {
  readonly token: string;
  readonly member: CrewMember;
}

/**
 * A lock's token does not say whose it is, but a row says who wrote it. A row that came while one and the same token, which
 * is never used twice, was in the lock was written by its holder.
 */
async function holderAtHalfTime(options: StrikeOptions): Promise<Holder | null> {
  const { lane, crew, published, signal } = options;
  const half = lane.events.length / 2;
  let token: string | null = null;
  let member: CrewMember | undefined;
  let decided = 0;
  for (;;) {
    signal.throwIfAborted();
    // Taken before the look: what was acknowledged by then and does not stand any more was served.
    const acknowledged = published();
    const { holder, depth } = await lane.inspect();
    const served = acknowledged - depth;
    if (served >= lane.events.length) return null;
    if (holder === null) {
      token = null;
      await pause(LOOK_EVERY_MS);
    } else if (holder !== token) {
      token = holder;
      member = undefined;
      decided = await lane.decided(Math.max(decided, served));
    } else if (member === undefined) {
      const row = await lane.rowAt(decided);
      const isStillHeld = row !== null && (await lane.inspect()).holder === token;
      member = isStillHeld ? crew.signedBy(row.worker) : undefined;
    } else if (served >= half && member.state === "at work") {
      return { token, member };
    }
  }
}
