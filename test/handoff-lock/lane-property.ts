import { startRedis } from "@junban/sandbox";
import fc from "fast-check";
import { Redis } from "ioredis";
import type { Tally } from "../support/exploration.ts";
import { Exploration } from "../support/exploration.ts";
import { same } from "../support/same.ts";
import { expire } from "./lane-accidents.ts";
import { enter, settle, take } from "./lane-deeds.ts";
import type { Step } from "./lane-steps.ts";
import { BATCH, STEP } from "./lane-steps.ts";
import type { Connections, LanePlace } from "./lane-world.ts";
import { World } from "./lane-world.ts";
import { Resending } from "./resending.ts";

const LOST_PARTS = ["wait", "body", "entry", "bodyOf", "evenly", "done", "seat", "tries", "lane"];

/** Every answer and every accident that has to occur; others may. */
const KINDS: readonly string[] = [
  "queue queued",
  "queue queued, then died",
  "queue full",
  "enter turn",
  "enter waiting",
  "enter settled",
  "maintain turn",
  "maintain waiting",
  "stand turn",
  "stand waiting",
  "stand settled",
  "stand turn, unheard",
  "stand again turn",
  "stand again waiting",
  "handOff next",
  "handOff released",
  "handOff yielded",
  "handOff lost",
  "renew renewed",
  "renew lost",
  "leave left",
  "leave lost",
  "crash",
  "expire",
  "stale token",
  "frozen holder wakes: handOff lost",
  "frozen holder wakes: leave lost",
  "stepBack given up",
  "stepBack settled",
  "withdraw withdrawn",
  "withdraw not standing",
  "age",
  "sweepOutcomes some",
  "flushScripts",
  ...LOST_PARTS.map((part) => `lose ${part}`),
  "sent twice",
];

export interface LaneExploration {
  readonly exploration: Exploration;
  /** Ends the throwaway Redis. */
  close(): Promise<void>;
}

/**
 * The lane's promises on a throwaway Redis of its own.
 * @param spoil tampers with the client through which every script goes: to see that it would be found out.
 */
export async function openLaneExploration(
  spoil: (redis: Redis) => void = () => {},
): Promise<LaneExploration> {
  const server = await startRedis({ appendOnly: false });
  const opened = ["redis", "doubled", "subscriber"].map(
    () => new Redis(server.url, { maxRetriesPerRequest: null }),
  );
  const [redis, doubled, subscriber] = opened as [Redis, Redis, Redis];
  subscriber.setMaxListeners(0);
  spoil(doubled);
  const connections: Connections = { redis, doubled: new Resending(doubled), subscriber };
  connections.doubled.on = false;
  return {
    exploration: Exploration.of({
      name: "lane",
      kinds: KINDS,
      property: (tally) => laneProperty(connections, tally),
    }),
    close: async () => {
      for (const connection of opened) connection.disconnect();
      await server.stop();
    },
  };
}

function laneProperty(connections: Connections, tally: Tally): fc.IAsyncProperty<unknown> {
  let worlds = 0;
  return fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 60, size: "max" }), async (steps) => {
    worlds += 1;
    const world = await World.open(connections, `w${worlds}`);
    const taken: string[] = [];
    try {
      for (const step of steps) await takeAndLook(world, step, (says) => taken.push(says), tally);
      taken.push("the end");
      for (const place of world.places) await drain(world, place);
    } catch (error) {
      throw new Error(`${(error as Error).message}\nTaken: ${taken.join(" · ")}`, { cause: error });
    } finally {
      await world.close();
    }
  });
}

async function takeAndLook(
  world: World,
  step: Step,
  onTaken: (says: string) => void,
  tally: Tally,
): Promise<void> {
  const done = await take(world, step);
  if (done === null) return tally.count("skipped");
  onTaken(done.says);
  tally.step(done.says);
  if ("twice" in step && step.twice) tally.count("sent twice");
  return world.look(done);
}

/** The end: jobs that are not done come back, the sweeper comes by, and everything that stood is handed out and gone. */
async function drain(world: World, place: LanePlace): Promise<void> {
  const lane = world.places.indexOf(place);
  const lapsed = await expire(place);
  if (lapsed !== null) await world.look(lapsed);
  for (const key of place.jobs) {
    await world.look(await enter(world, { do: "enter", lane, worker: 0, key, twice: false }));
    await serve(world, place, key);
    if (place.model.outcomes.has(key)) throw new Error(`the outcome of ${key} was not taken by its job`);
  }
  await world.look(await enter(world, { do: "maintain", lane, worker: 0, twice: false }));
  await serve(world, place, null);
  const { lock, line, bodies, seats, tries } = place.witness.lane;
  same("in the end nothing stands, waits or is held", { lock, line, bodies, seats, tries }, END);
}

const END = { lock: null, line: [], bodies: {}, seats: {}, tries: 0 } as const;

async function serve(world: World, place: LanePlace, carried: string | null): Promise<void> {
  while (place.held !== null) {
    const { held } = place;
    const settled = held.inHand;
    const own = settled.filter((key) => key === carried);
    const settling = { world, place, held, settled, own, yieldTurn: false, batch: BATCH, twice: false };
    await world.look(await settle(settling));
  }
}
