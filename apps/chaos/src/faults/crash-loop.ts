import { setTimeout as pause } from "node:timers/promises";
import type { EventEnvelope } from "@junban/orders";
import type { Stage } from "../stage.ts";
import { CALM_MS, type Chance, type Fault, SERVICE_BOUND_MS } from "./fault.ts";
import { AT_MOMENT, momentEnv } from "./moments.ts";

/** Every process that begins to decide an event with this in it dies on the spot. */
const DEADLY = "deadly-authorization";
const LATER_EVENTS = 20;
const LOOK_EVERY_MS = 100;
/** Ten holders have to vanish, each for a lease, and to be started again. */
const GIVEN_UP_WITHIN_MS = 120_000;

export const crashLoop: Fault = {
  name: "crash-loop",
  does: "publishes an event whose decision kills the process, until the fleet gives it up; then replays it with a mended build",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage, chance) => {
    const events = ordersWithADeadlyEvent(`CRASH-${chance.struck}`);
    const deadly = events[1];
    if (deadly === undefined) throw new Error("the deadly event is missing");
    await dismissAll(stage);
    const deaths = await whileProcessesDie(stage, async () => {
      await stage.flow.send(events);
      await untilGivenUp(stage, deadly, chance.signal);
    });
    await stage.fillCrew();
    const sinceMs = performance.now();
    const replayed = await stage.command(["dlq", "replay", deadly.source, deadly.id]);
    if (replayed.code !== 0) stage.wrong(`the deadly event could not be replayed: ${replayed.output}`);
    return { says: `an event killed ${deaths} processes, was given up, and replayed`, sinceMs };
  },
};

/** Workers that die of the deadly event and are started again, as a supervisor would. Answers how many died. */
async function whileProcessesDie(stage: Stage, act: () => Promise<void>): Promise<number> {
  const over = new AbortController();
  const env = momentEnv({ moment: "junban.event.deciding", sends: "SIGKILL", countdown: 1, about: DEADLY });
  const ended = new Promise<void>((resolve) => {
    over.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  let deaths = 0;
  const keepPost = async (): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        const member = await stage.crew.start({ preload: [AT_MOMENT], env, doomed: true });
        await Promise.race([stage.crew.endOf(member), ended]);
        if (!over.signal.aborted) deaths += 1;
      } catch {
        // It died before it served: its sweeper may have met the event at once.
        deaths += 1;
      }
    }
  };
  const posts = Array.from({ length: stage.workers }, keepPost);
  try {
    await act();
  } finally {
    over.abort();
    await Promise.all(posts);
    await dismissAll(stage);
  }
  return deaths;
}

async function dismissAll(stage: Stage): Promise<void> {
  const alive = stage.crew.members.filter(({ state }) => state === "at work" || state === "doomed");
  await Promise.all(alive.map(async (member) => stage.crew.dismiss(member)));
}

async function untilGivenUp(stage: Stage, event: EventEnvelope, signal: Chance["signal"]): Promise<void> {
  const untilMs = performance.now() + GIVEN_UP_WITHIN_MS;
  while (performance.now() < untilMs) {
    const row = await stage.store.readEvent(event);
    if (row?.outcome === "failed") return;
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  stage.wrong(`an event that kills every process was not given up within ${GIVEN_UP_WITHIN_MS / 1_000} s`);
}

function ordersWithADeadlyEvent(lcid: string): readonly EventEnvelope[] {
  const lines = [{ lineId: "L1", sku: "S1", quantity: 2, unitAmount: 500 }];
  const eventOf = (number: number, type: string, data: object): EventEnvelope => ({
    specversion: "1.0",
    id: `${lcid}-${number}`,
    source: "/chaos",
    type,
    lcid,
    data,
  });
  const authorized = (number: number, authorizationId: string): EventEnvelope =>
    eventOf(number, "payment.authorized", { authorizationId, amount: 10, currency: "JPY" });
  return [
    eventOf(0, "order.placed", { currency: "JPY", adjustment: 0, shipGate: "captured", lines }),
    authorized(1, DEADLY),
    ...Array.from({ length: LATER_EVENTS }, (_, index) => authorized(index + 2, `a-${index}`)),
  ];
}
