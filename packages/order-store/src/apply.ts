import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "pg";
import { asError, classify, DeadlinePassedError, describe, OrderBusyError } from "./errors.ts";
import type { Policy } from "./order-work.ts";
import { asRead, failing, prepare, type Ending } from "./prepared.ts";
import { Session, type SessionLimits } from "./session.ts";
import { applyTogether, type LanePart, type PartResult } from "./transaction.ts";
import type { CommitFacts, LaneBatch, LaneResult, LaneTrouble, Settled } from "./types.ts";

export interface ApplyContext {
  readonly pool: Pool;
  readonly limits: SessionLimits;
  readonly policy: Policy;
  readonly worker: string;
  readonly onCommit: (facts: CommitFacts) => void;
}

/** Most lanes that may share a transaction. */
const MAX_LANES = 32;
/** Tries of one lane's transaction before the trouble is handed back; the lane's own backoff goes on from there. */
const MAX_TRIES = 4;
/** Lanes that are tried alone at the same time after a shared transaction failed. */
const ALONE_AT_ONCE = 2;

/**
 * Applies each lane's batch: all in one transaction if that works, each lane alone where it does not, and one event at a time
 * where an event itself is the trouble.
 */
export async function applyLanes(
  context: ApplyContext,
  batches: readonly LaneBatch[],
): Promise<readonly LaneResult[]> {
  const lcids = new Set(batches.map(({ lcid }) => lcid));
  if (batches.length > MAX_LANES || lcids.size !== batches.length) {
    throw new RangeError(`apply takes at most ${MAX_LANES} lanes, each once; it was given ${batches.length}`);
  }
  const results = new Map<string, LaneResult>();
  const nowMs = performance.now();
  const parts = batches
    .filter(({ requests }) => requests.length > 0)
    .map(partOf)
    .filter((part) => {
      if (part.deadlineMs > nowMs) return true;
      results.set(
        part.lcid,
        withTrouble(part.lcid, { kind: "deadline", error: new DeadlinePassedError(part) }),
      );
      return false;
    });
  const alone = parts.length > 1 ? await applyShared(context, parts, results) : parts;
  await inTurns(alone, ALONE_AT_ONCE, async (part) => {
    results.set(part.lcid, await applyAlone(context, part));
  });
  return batches.map(({ lcid }) => results.get(lcid) ?? { lcid, settled: [], trouble: null, released: 0 });
}

function partOf({ lcid, requests, giveUpHead, deadlineMs }: LaneBatch): LanePart {
  const events = requests.map((request) => prepare(request, lcid));
  const head = events[0];
  if (giveUpHead === true && head !== undefined) {
    events[0] = failing(
      head,
      { reason: "CRASH_LOOP", detail: "each process that decided it vanished" },
      { keepBody: true },
    );
  }
  return { lcid, events, deadlineMs: deadlineMs ?? Number.POSITIVE_INFINITY };
}

/** Returns the lanes that must be tried alone. */
async function applyShared(
  context: ApplyContext,
  parts: readonly LanePart[],
  results: Map<string, LaneResult>,
): Promise<readonly LanePart[]> {
  let outcomes: ReadonlyMap<string, PartResult> | undefined;
  for (let tries = 1; outcomes === undefined; tries += 1) {
    const startedMs = performance.now();
    try {
      outcomes = await attempt(context, parts);
    } catch (error) {
      if (classify(error) !== "lost") return parts;
      if (isSpent(context, { tries, startedMs })) {
        // Against a database that does not answer, the lanes would only time out one after another.
        for (const { lcid } of parts) results.set(lcid, withTrouble(lcid, { kind: "down", error }));
        return [];
      }
      await pause(backoffMs(tries));
    }
  }
  return parts.filter((part) => {
    const outcome = outcomes.get(part.lcid);
    if (outcome === undefined || outcome.kind === "busy") return true;
    results.set(part.lcid, resultOf(part.lcid, outcome));
    return false;
  });
}

async function applyAlone(context: ApplyContext, whole: LanePart): Promise<LaneResult> {
  const { lcid } = whole;
  const settled: Settled[] = [];
  let released = 0;
  let size = whole.events.length;
  let tries = 0;
  while (settled.length < whole.events.length) {
    const part = { ...whole, events: whole.events.slice(settled.length, settled.length + size) };
    const startedMs = performance.now();
    try {
      const outcome = (await attempt(context, [part])).get(lcid);
      if (outcome === undefined || outcome.kind === "busy") throw new OrderBusyError({ lcid });
      if (outcome.kind === "late") {
        return withTrouble(lcid, { kind: "deadline", error: outcome.error, settled, released });
      }
      settled.push(...outcome.settled);
      released += outcome.released;
      tries = 0;
    } catch (error) {
      tries += 1;
      const next = afterFailure(error, { size, tries, spent: isSpent(context, { tries, startedMs }) });
      if (next.kind === "stop") return withTrouble(lcid, { kind: next.trouble, error, settled, released });
      if (next.kind === "poison") {
        const rest = await settleCulprit(context, part, error);
        if (rest.trouble !== null) return { ...rest, settled: [...settled, ...rest.settled], released };
        settled.push(...rest.settled);
        tries = 0;
      } else {
        size = next.size;
        await pause(next.pauseMs);
      }
    }
  }
  return { lcid, settled, trouble: null, released };
}

type NextStep =
  | { readonly kind: "again"; readonly size: number; readonly pauseMs: number }
  | { readonly kind: "poison" }
  | { readonly kind: "stop"; readonly trouble: LaneTrouble["kind"] };

/** An attempt that took as long as a lock may be waited for was no quick one; the lane waits better than a connection does. */
function isSpent(
  { limits }: ApplyContext,
  { tries, startedMs }: { tries: number; startedMs: number },
): boolean {
  return tries >= MAX_TRIES || performance.now() - startedMs >= limits.lockTimeoutMs;
}

function afterFailure(
  error: unknown,
  { size, tries, spent }: { size: number; tries: number; spent: boolean },
): NextStep {
  switch (classify(error)) {
    case "lost":
      return spent ? { kind: "stop", trouble: "down" } : { kind: "again", size, pauseMs: backoffMs(tries) };
    case "passing":
      return spent
        ? { kind: "stop", trouble: "passing" }
        : { kind: "again", size, pauseMs: backoffMs(tries) };
    case "tooLong":
      // One event that takes too long even alone is as passing as the load that slows it.
      if (size === 1) return { kind: "stop", trouble: "passing" };
      return { kind: "again", size: Math.ceil(size / 2), pauseMs: 0 };
    case "inbox":
      // Another order recorded this very event meanwhile: the next reading of the inbox sees it.
      return spent ? { kind: "stop", trouble: "passing" } : { kind: "again", size, pauseMs: 0 };
    case "content":
      // One of the events is refused by the database: find it by going one at a time.
      return size === 1 ? { kind: "poison" } : { kind: "again", size: 1, pauseMs: 0 };
    case "unknown":
      return { kind: "stop", trouble: "unknown" };
  }
}

/** Jittered, so that lanes which failed together do not try again together. */
function backoffMs(tries: number): number {
  return 10 * 2 ** tries * (0.5 + Math.random());
}

/**
 * Settles the one event of the part that the database refuses: as it was read, if its text said more than that; else `failed`,
 * with its body if the database takes that, or with an excerpt.
 */
async function settleCulprit(context: ApplyContext, part: LanePart, cause: unknown): Promise<LaneResult> {
  const ending: Ending = { reason: "REFUSED_BY_DATABASE", detail: describe(cause) };
  const plain = part.events.map(asRead);
  const ways = [
    ...(plain.every((event, index) => event === part.events[index]) ? [] : [plain]),
    plain.map((event) => failing(event, ending, { keepBody: true })),
    plain.map((event) => failing(event, ending, { keepBody: false })),
  ];
  let last: unknown = cause;
  for (const events of ways) {
    try {
      const outcome = (await attempt(context, [{ ...part, events }])).get(part.lcid);
      if (outcome?.kind === "settled") return resultOf(part.lcid, outcome);
      if (outcome?.kind === "late") return resultOf(part.lcid, outcome);
    } catch (error) {
      last = error;
      if (classify(error) !== "content") break;
    }
  }
  return withTrouble(part.lcid, { kind: classify(last) === "content" ? "unknown" : "passing", error: last });
}

async function attempt(
  context: ApplyContext,
  parts: readonly LanePart[],
): Promise<ReadonlyMap<string, PartResult>> {
  const session = await Session.open(context.pool, context.limits);
  try {
    const results = await applyTogether(session, parts, context);
    const events = [...results.values()].reduce(
      (sum, result) => sum + (result.kind === "settled" ? result.settled.length : 0),
      0,
    );
    context.onCommit({ lanes: parts.length, events, roundTrips: session.trips });
    return results;
  } finally {
    await session.close();
  }
}

function resultOf(lcid: string, outcome: Exclude<PartResult, { kind: "busy" }>): LaneResult {
  if (outcome.kind === "late") return withTrouble(lcid, { kind: "deadline", error: outcome.error });
  return { lcid, settled: outcome.settled, trouble: null, released: outcome.released };
}

interface TroubleFacts {
  readonly kind: LaneTrouble["kind"];
  readonly error: unknown;
  readonly settled?: readonly Settled[];
  readonly released?: number;
}

function withTrouble(lcid: string, { kind, error, settled = [], released = 0 }: TroubleFacts): LaneResult {
  return { lcid, settled, trouble: { kind, error: asError(error) }, released };
}

async function inTurns<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const runners = Array.from({ length: Math.min(atOnce, waiting.length) }, async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  });
  await Promise.all(runners);
}
