import fc from "fast-check";

export const LANES = 2;
export const WORKERS = 3;
export const BATCH = 3;
export const CAP = 7;
/** More than the cap, so that the lane is full now and then. */
const KEYS = 10;

const lane = fc.nat({ max: LANES - 1 });
const worker = fc.nat({ max: WORKERS - 1 });
const key = fc.nat({ max: KEYS - 1 }).map((number) => `r${number}`);
const which = fc.nat({ max: 5 });
const twice = fc.boolean();
const flags = fc.array(fc.boolean(), { minLength: BATCH, maxLength: BATCH });

/** A publisher's call. Without `job` it died before it made the jobs, and only the sweeper knows. */
const queue = fc.record({
  do: fc.constant("queue" as const),
  lane,
  keys: fc.array(key, { minLength: 1, maxLength: 4 }),
  job: fc.nat({ max: 5 }).map((drawn) => drawn > 0),
  twice,
});
/** A job that was just fetched asks for its turn. */
const enter = fc.record({ do: fc.constant("enter" as const), lane, worker, key, twice });
/** The sweeper, or an operator, asks for the lane. */
const maintain = fc.record({ do: fc.constant("maintain" as const), lane, worker, twice });
/**
 * A job that waits asks, for the first time or again: after a poll, or after a wake that is in time, stale, or meant for
 * somebody else. When an answer goes unheard it asks again later, with the same token.
 */
const stand = fc.record({
  do: fc.constant("stand" as const),
  lane,
  worker,
  key,
  /** One of those that wait already, if any does. */
  again: fc.boolean(),
  which,
  heard: fc.nat({ max: 5 }).map((drawn) => drawn > 0),
  twice,
});
const handOff = fc.record({
  do: fc.constant("handOff" as const),
  lane,
  settles: fc.constantFrom("all", "all", "some", "some", "none", "another"),
  /** Which of the requests in hand, for `some`. */
  some: flags,
  /** The one that may not be in hand, or not even in line, for `another`. */
  another: key,
  backwards: fc.boolean(),
  /** Whose outcomes the holder delivers itself. */
  own: flags,
  yieldTurn: fc.boolean(),
  /** Asks for one request at a time. */
  alone: fc.boolean(),
  twice,
});
const renew = fc.record({ do: fc.constant("renew" as const), lane, twice });
const leave = fc.record({ do: fc.constant("leave" as const), lane, twice });
/** A process is gone without a word. */
const crash = fc.record({ do: fc.constant("crash" as const), worker });
const expire = fc.record({ do: fc.constant("expire" as const), lane });
/** Calls with a token that was, or that never was. */
const stale = fc.record({ do: fc.constant("stale" as const), lane, which });
/** A holder that was frozen past its lease wakes, and goes on as if nothing had happened. */
const wakeHolder = fc.record({
  do: fc.constant("wakeHolder" as const),
  lane,
  which,
  leaves: fc.boolean(),
  yieldTurn: fc.boolean(),
  twice,
});
/** One of those that wait has waited long enough. */
const stepBack = fc.record({ do: fc.constant("stepBack" as const), lane, which, twice });
const withdraw = fc.record({ do: fc.constant("withdraw" as const), lane, key, twice });
/** More than an hour passes for the outcomes that lie in Redis. */
const age = fc.record({ do: fc.constant("age" as const), lane });
const sweepOutcomes = fc.record({ do: fc.constant("sweepOutcomes" as const), lane, twice });
const flushScripts = fc.record({ do: fc.constant("flushScripts" as const) });
const lose = fc.record({
  do: fc.constant("lose" as const),
  lane,
  /** `evenly`: one entry and another one's body, so that the lengths still match. `lane`: everything. */
  part: fc.constantFrom("wait", "body", "entry", "bodyOf", "evenly", "done", "seat", "tries", "lane"),
  key,
});

/** One step of somebody. Those that make no sense at the moment are skipped. */
export const STEP = fc.oneof(
  { weight: 5, arbitrary: queue },
  { weight: 6, arbitrary: enter },
  { weight: 1, arbitrary: maintain },
  { weight: 6, arbitrary: stand },
  { weight: 8, arbitrary: handOff },
  { weight: 2, arbitrary: renew },
  { weight: 2, arbitrary: leave },
  { weight: 1, arbitrary: crash },
  { weight: 2, arbitrary: expire },
  { weight: 2, arbitrary: stale },
  { weight: 2, arbitrary: wakeHolder },
  { weight: 2, arbitrary: stepBack },
  { weight: 1, arbitrary: withdraw },
  { weight: 2, arbitrary: age },
  { weight: 2, arbitrary: sweepOutcomes },
  { weight: 1, arbitrary: flushScripts },
  { weight: 1, arbitrary: lose },
);

export type Step = typeof STEP extends fc.Arbitrary<infer Drawn> ? Drawn : never;
export type StepOf<Name extends Step["do"]> = Extract<Step, { readonly do: Name }>;
