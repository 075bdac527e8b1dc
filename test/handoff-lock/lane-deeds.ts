import type { Handoff } from "@junban/handoff-lock";
import { readEnter, readStepBack } from "../../packages/handoff-lock/src/replies.ts";
import { request } from "./lab.ts";
import { accidentAt } from "./lane-accidents.ts";
import type { ModelAnswer, ModelEntry } from "./lane-model.ts";
import type { Step, StepOf } from "./lane-steps.ts";
import { BATCH, CAP } from "./lane-steps.ts";
import type { Deed } from "./lane-witness.ts";
import type { HeldLane, LanePlace, World } from "./lane-world.ts";
import { RawTurn } from "./raw-turn.ts";

/** What became of a step: where, what it had the right to do there, and a word for the tally. */
export interface Done {
  readonly at: LanePlace | null;
  readonly deed: Deed;
  readonly says: string;
  /** What it was answered beside what the model says, for after the witness: a promise is worth more than a model. */
  readonly answers?: readonly Answer[];
}

type Answer = readonly [what: string, actual: unknown, expected: unknown];

/** Takes one step on the real lane and on its model, and compares the answers. Null when it makes no sense at the moment. */
export function take(world: World, step: Step): Promise<Done | null> {
  switch (step.do) {
    case "queue":
      return queue(world, step);
    case "enter":
    case "maintain":
      return enter(world, step);
    case "stand":
      return stand(world, step);
    case "handOff":
      return handOff(world, step);
    case "renew":
      return renew(world, step);
    case "leave":
      return leave(world, step);
    case "stale":
      return stale(world, step);
    case "wakeHolder":
      return wakeHolder(world, step);
    case "stepBack":
      return stepBack(world, step);
    case "withdraw":
      return withdraw(world, step);
    case "sweepOutcomes":
      return sweepOutcomes(world, step);
    default:
      return accidentAt(world, step);
  }
}

async function queue(world: World, { lane, keys, job, twice }: StepOf<"queue">): Promise<Done> {
  const place = world.places[lane]!;
  const { model } = place;
  const expected = model.queue(keys, CAP);
  if (twice) model.queue(keys, CAP);
  const result = await world.call(twice, () => world.worker(0).lanes.queue(model.lcid, keys.map(request)));
  const answer = ["the answer to queue", [result.kind, result.depth], [expected, model.line.length]] as const;
  // Whatever was accepted gets its job, unless the publisher dies just then; what was refused gets none.
  if (expected === "queued") for (const key of keys) (job ? place.jobs : place.orphans).add(key);
  const deed = { queues: true, joins: expected === "queued" ? keys : [] };
  return { at: place, deed, says: `queue ${expected}${job ? "" : ", then died"}`, answers: [answer] };
}

/** An `enter` of the package sends the body only when it is asked for it; sent twice, each of the two goes twice. */
function modelEnter(place: LanePlace, entry: Omit<ModelEntry, "hasBody">, twice: boolean): ModelAnswer {
  const send = (hasBody: boolean): ModelAnswer => {
    const first = place.model.enter({ ...entry, hasBody }, BATCH);
    return twice ? place.model.enter({ ...entry, hasBody }, BATCH) : first;
  };
  const answer = send(false);
  return answer.kind === "absent" ? send(true) : answer;
}

export async function enter(world: World, step: StepOf<"enter"> | StepOf<"maintain">): Promise<Done> {
  const place = world.places[step.lane]!;
  const { model } = place;
  const key = step.do === "enter" ? step.key : "";
  if (key !== "") place.jobs.add(key);
  const entry = await world.call(step.twice, () =>
    world.worker(step.worker).lanes.enter(model.lcid, key === "" ? undefined : request(key)),
  );
  const token = entry.kind === "turn" ? entry.turn.token : "of whoever asks";
  const expected = modelEnter(place, { token, key, channel: "" }, step.twice);
  const joins = key === "" ? [] : [key];
  const says = `${step.do} ${entry.kind}`;
  if (entry.kind !== "turn") {
    if (entry.kind === "settled") tookOutcome(place, key);
    return {
      at: place,
      deed: { joins },
      says,
      answers: [["the answer to enter", { ...entry }, { ...expected }]],
    };
  }
  const { turn } = entry;
  const handedOut = turn.requests.map((handed) => handed.key);
  const answers: Answer[] = [
    ["the turn", { kind: "turn", keys: handedOut }, expected],
    ["vanished holders and this one", turn.tries, model.tries],
  ];
  place.gaveTurn({ turn, worker: step.worker, inHand: handedOut });
  return { at: place, deed: { joins, took: token, stoodUp: key, handedOut, limit: BATCH }, says, answers };
}

/** Its job is done, unless the same event was published again meanwhile. */
function tookOutcome(place: LanePlace, key: string): void {
  if (!place.model.line.includes(key)) place.jobs.delete(key);
}

async function stand(world: World, step: StepOf<"stand">): Promise<Done> {
  const { lane, heard, twice } = step;
  const place = world.places[lane]!;
  const waits = step.again ? world.waitsAt(lane) : [];
  const wait = waits[step.which % Math.max(1, waits.length)] ?? world.waitOf(step);
  const { worker, key, token } = wait;
  const { channel } = world.worker(worker).listener;
  place.jobs.add(key);
  const entry = { token, key, channel };
  const send = async (body?: string): Promise<ReturnType<typeof readEnter>> =>
    readEnter(
      await world.call(twice, () => place.raw.enter(body === undefined ? entry : { ...entry, body })),
    );
  let reply = await send();
  if (reply.kind === "absent") reply = await send(`body of ${key}`);
  const expected = modelEnter(place, entry, twice);
  const says = `stand ${waits.length > 0 ? "again " : ""}${reply.kind}${heard ? "" : ", unheard"}`;
  const kinds: Answer = ["the answer to a waiter", reply.kind, expected.kind];
  if (reply.kind !== "turn") {
    if (reply.kind === "settled" && heard) {
      world.endWait(wait);
      tookOutcome(place, key);
    }
    return { at: place, deed: { joins: [key] }, says, answers: [kinds] };
  }
  const handedOut = reply.requests.map((handed) => handed.key);
  const answers = [kinds, ["the waiter's turn", { kind: "turn", keys: handedOut }, expected]] as const;
  const turn = new RawTurn({ lane: place.raw, token });
  place.gaveTurn(heard ? { turn, worker, inHand: handedOut } : null);
  if (heard) world.endWait(wait);
  return {
    at: place,
    deed: { joins: [key], took: token, stoodUp: key, handedOut, limit: BATCH },
    says,
    answers,
  };
}

function keysToSettle(held: HeldLane, step: StepOf<"handOff">): string[] {
  const { inHand } = held;
  switch (step.settles) {
    case "all":
      return [...inHand];
    case "some":
      return inHand.filter((_, index) => step.some[index]);
    case "none":
      return [];
    case "another":
      return [...new Set([...inHand.filter((_, index) => step.some[index]), step.another])];
  }
}

async function handOff(world: World, step: StepOf<"handOff">): Promise<Done | null> {
  const place = world.places[step.lane]!;
  const { held } = place;
  if (held === null) return null;
  const keys = keysToSettle(held, step);
  const settled = step.backwards ? keys.toReversed() : keys;
  const own = settled.filter((_, index) => step.own[index]);
  return settle({
    world,
    place,
    held,
    settled,
    own,
    yieldTurn: step.yieldTurn,
    batch: step.alone ? 1 : BATCH,
    twice: step.twice,
  });
}

interface Settling {
  readonly world: World;
  readonly place: LanePlace;
  readonly held: HeldLane;
  readonly settled: readonly string[];
  readonly own: readonly string[];
  readonly yieldTurn: boolean;
  readonly batch: number;
  readonly twice: boolean;
}

export async function settle(settling: Settling): Promise<Done> {
  const { world, place, held, settled, own, yieldTurn, batch, twice } = settling;
  const { token } = held.turn;
  const isHolder = place.witness.lane.lock === token;
  const outcome = (key: string): string => `outcome of ${key}`;
  const answer = await world.call(twice, () =>
    held.turn.handOff(
      settled.map((key) => ({ key, value: outcome(key) })),
      { own, yieldTurn, batch },
    ),
  );
  const others = settled.filter((key) => !own.includes(key)).map((key) => [key, outcome(key)] as const);
  const handoff = { token, own, others, yieldTurn, batch };
  const first = place.model.handOff(handoff);
  const expected = twice ? place.model.handOff(handoff) : first;
  const answers: Answer[] = [["the answer to handOff", inHandOf(answer), expected]];
  if (isHolder) for (const key of own) place.jobs.delete(key);
  const removes = isHolder ? settled : [];
  const says = `handOff ${answer.kind}`;
  if (answer.kind === "next") {
    held.inHand = answer.requests.map(({ key }) => key);
    const deed = { token, removes, own, handedOut: held.inHand, limit: batch };
    return { at: place, deed, says, answers };
  }
  if (place.held === held) place.held = null;
  place.staleTokens.push(token);
  // Sent twice, the second call of a holder that has just given up is answered `lost`.
  const { kind } = twice && isHolder && answer.kind === "lost" ? first : answer;
  const gaveUp = kind === "released" || kind === "yielded" ? { letsGo: kind } : {};
  return { at: place, deed: { token, removes, own, ...gaveUp }, says, answers };
}

function inHandOf(answer: Handoff): ModelAnswer {
  return answer.kind === "next" ? { kind: "next", keys: answer.requests.map(({ key }) => key) } : answer;
}

async function renew(world: World, { lane, twice }: StepOf<"renew">): Promise<Done | null> {
  const place = world.places[lane]!;
  const { raw, model } = place;
  const token = place.held?.turn.token;
  if (token === undefined) return null;
  const isHolder = model.lock === token;
  if (isHolder) await raw.redis.pexpire(raw.key("lock"), 60_000);
  const renewed = Number(await world.call(twice, () => raw.renew(token, 200_000)));
  const isLonger = isHolder && (await raw.redis.pttl(raw.key("lock"))) > 60_000;
  return {
    at: place,
    deed: { token },
    says: `renew ${isHolder ? "renewed" : "lost"}`,
    answers: [
      ["the answer to renew", renewed, isHolder ? 1 : 0],
      ["a renewal prolongs the holder's lease", isLonger, isHolder],
    ],
  };
}

async function leave(world: World, { lane, twice }: StepOf<"leave">): Promise<Done | null> {
  const { held } = world.places[lane]!;
  return held === null ? null : leaveTurn(world, world.places[lane]!, held, twice);
}

async function leaveTurn(world: World, place: LanePlace, held: HeldLane, twice: boolean): Promise<Done> {
  const { token } = held.turn;
  await world.call(twice, () => held.turn.leave());
  const left = place.model.leave(token);
  if (place.held === held) place.held = null;
  place.staleTokens.push(token);
  const deed: Deed = left ? { token, letsGo: "left" } : { token };
  return { at: place, deed, says: `leave ${left ? "left" : "lost"}` };
}

/** I1: tokens that were, and one that never was. */
async function stale(world: World, { lane, which }: StepOf<"stale">): Promise<Done | null> {
  const place = world.places[lane]!;
  const { raw, model, staleTokens } = place;
  const token = staleTokens[which % staleTokens.length]!;
  if (model.lock === token) return null;
  const others = Object.fromEntries(model.line.map((key) => [key, "stolen"]));
  const answers: Answer[] = [
    ["the answer to a stale renewal", Number(await raw.renew(token, 900_000)), 0],
    ["the answer to a stale leave", Number(await raw.leave(token)), 0],
    ["the answer to a stale handoff", await raw.handoff({ token, others, yieldTurn: true }), [0]],
  ];
  return { at: place, deed: { token }, says: "stale token", answers };
}

async function wakeHolder(world: World, step: StepOf<"wakeHolder">): Promise<Done | null> {
  const place = world.places[step.lane]!;
  const { leaves, yieldTurn, twice, which } = step;
  const ghost = place.ghosts[which % Math.max(1, place.ghosts.length)];
  if (ghost === undefined) return null;
  place.ghosts = place.ghosts.filter((other) => other !== ghost);
  const done = leaves
    ? await leaveTurn(world, place, ghost, twice)
    : await settle({
        world,
        place,
        held: ghost,
        settled: ghost.inHand,
        own: [],
        yieldTurn,
        batch: BATCH,
        twice,
      });
  return { ...done, says: `frozen holder wakes: ${done.says}` };
}

async function stepBack(world: World, { lane, which, twice }: StepOf<"stepBack">): Promise<Done | null> {
  const place = world.places[lane]!;
  // Among them those whose seat was lost, so that their outcome lies in Redis.
  const unheard = [...place.model.outcomes.keys()].map((key) => world.waitOf({ lane, worker: 0, key }));
  const waits = [...unheard, ...world.waitsAt(lane).filter((wait) => !unheard.includes(wait))];
  const wait = waits[which % Math.max(1, waits.length)];
  if (wait === undefined) return null;
  const { key, worker } = wait;
  const { channel } = world.worker(worker).listener;
  const value = readStepBack(await world.call(twice, () => place.raw.stepBack(key, channel)));
  const first = place.model.stepBack(key, channel);
  const expected = twice ? place.model.stepBack(key, channel) : first;
  world.endWait(wait);
  if (value !== null) tookOutcome(place, key);
  const says = `stepBack ${value === null ? "given up" : "settled"}`;
  return { at: place, deed: { stoodUp: key }, says, answers: [["the answer to stepBack", value, expected]] };
}

async function withdraw(world: World, { lane, key, twice }: StepOf<"withdraw">): Promise<Done> {
  const place = world.places[lane]!;
  const settlement = { key, value: `outcome of ${key}, withdrawn` };
  const result = await world.call(twice, () => world.worker(0).lanes.withdraw(place.model.lcid, settlement));
  const first = place.model.withdraw(key, settlement.value);
  const expected = twice ? place.model.withdraw(key, settlement.value) : first;
  return {
    at: place,
    deed: { removes: [key] },
    says: `withdraw ${first ? "withdrawn" : "not standing"}`,
    answers: [["the answer to withdraw", result, expected]],
  };
}

async function sweepOutcomes(world: World, { lane, twice }: StepOf<"sweepOutcomes">): Promise<Done> {
  const place = world.places[lane]!;
  const deleted = await world.call(twice, () =>
    world.worker(0).lanes.sweepOutcomes(place.model.lcid, 3_600_000),
  );
  const swept = place.model.sweepOutcomes();
  return {
    at: place,
    deed: {},
    says: `sweepOutcomes ${swept > 0 ? "some" : "nothing old"}`,
    answers: [["outcomes swept", deleted, twice ? 0 : swept]],
  };
}
