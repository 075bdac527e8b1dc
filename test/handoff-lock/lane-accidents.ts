import type { LaneKey } from "../../packages/handoff-lock/src/lane-names.ts";
import { KEYS_OF } from "../../packages/handoff-lock/src/script-texts.ts";
import type { Done } from "./lane-deeds.ts";
import type { StepOf } from "./lane-steps.ts";
import type { LanePlace, World } from "./lane-world.ts";

type Accident = StepOf<"crash" | "expire" | "age" | "flushScripts" | "lose">;

/** What no script does: processes and keys that vanish, leases that lapse, scripts that are forgotten, outcomes that age. */
export async function accidentAt(world: World, step: Accident): Promise<Done | null> {
  switch (step.do) {
    case "crash":
      await world.crash(step.worker);
      return { at: null, deed: {}, says: "crash" };
    case "expire":
      return expire(world.places[step.lane]!);
    case "age":
      return age(world.places[step.lane]!);
    case "flushScripts":
      await world.flushScripts();
      return { at: null, deed: {}, says: "flushScripts" };
    case "lose":
      return (await lose(world.places[step.lane]!, step))
        ? { at: world.places[step.lane]!, deed: { accident: true }, says: `lose ${step.part}` }
        : null;
  }
}

export async function expire(place: LanePlace): Promise<Done | null> {
  if (place.model.lock === null) return null;
  await place.raw.redis.del(place.raw.key("lock"));
  place.model.lock = null;
  return { at: place, deed: { accident: true }, says: "expire" };
}

async function age(place: LanePlace): Promise<Done | null> {
  const { raw, model } = place;
  if (model.outcomes.size === 0) return null;
  for (const [key, value] of model.outcomes) {
    await raw.redis.hset(raw.key("done"), key, `${Date.now() - 2 * 3_600_000}:${value}`);
    model.old.add(key);
  }
  return { at: place, deed: {}, says: "age" };
}

async function lose(place: LanePlace, { part, key }: StepOf<"lose">): Promise<boolean> {
  switch (part) {
    case "entry":
      await loseEntry(place, key);
      return true;
    case "bodyOf":
      await loseBody(place, key);
      return true;
    case "evenly": {
      const [first, ...others] = place.model.line;
      if (first === undefined || others.length === 0) return false;
      const lost = others.includes(key) ? key : others[0]!;
      await loseEntry(place, lost);
      await loseBody(place, first);
      return true;
    }
    case "lane":
      for (const each of KEYS_OF.inspect) await forget(place, each);
      return true;
    default:
      await forget(place, part);
      return true;
  }
}

async function loseEntry({ raw, model }: LanePlace, key: string): Promise<void> {
  await raw.redis.lrem(raw.key("wait"), 1, key);
  const index = model.line.indexOf(key);
  if (index !== -1) model.line.splice(index, 1);
}

async function loseBody({ raw, model }: LanePlace, key: string): Promise<void> {
  await raw.redis.hdel(raw.key("body"), key);
  model.bodies.delete(key);
}

async function forget({ raw, model }: LanePlace, name: LaneKey): Promise<void> {
  await raw.redis.del(raw.key(name));
  switch (name) {
    case "lock":
      model.lock = null;
      break;
    case "wait":
      model.line = [];
      break;
    case "body":
      model.bodies.clear();
      break;
    case "seat":
      model.seats.clear();
      break;
    case "done":
      model.outcomes.clear();
      model.old.clear();
      break;
    case "tries":
      model.tries = 0;
      break;
  }
}
