/** The store alone: reads events from files and applies them in batches, several at a time. Started by the bench as a process. */
import { closeSync, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createOrderStore, type LaneBatch, type OrderStore } from "@junban/order-store";
import type { EventJob } from "../contenders/event-job.ts";
import { DONE_FILE, feedFile, feedFolder } from "./feed.ts";
import { groundOf } from "./ground.ts";

/** As much as the worker puts into one transaction. */
const TRANSACTION_EVENTS = 512;
const TRANSACTION_LANES = 32;
const LANE_EVENTS = 256;
const BATCHES_AT_ONCE = 3;
const LOOK_EVERY_MS = 5;

/** Events of each order that are not applied yet, those served longest ago in front. */
type Lanes = Map<string, EventJob[]>;

function lanesOf(events: readonly EventJob[]): Lanes {
  const lanes: Lanes = new Map();
  for (const event of events) {
    const lane = lanes.get(event.lcid);
    if (lane === undefined) lanes.set(event.lcid, [event]);
    else lane.push(event);
  }
  return lanes;
}

/** Takes the first lanes out whole, so that no other batch meets them meanwhile; what does not fit goes back later. */
function takeBatch(lanes: Lanes): { batches: readonly LaneBatch[]; rests: Lanes } {
  const batches: LaneBatch[] = [];
  const rests: Lanes = new Map();
  let room = TRANSACTION_EVENTS;
  for (const [lcid, events] of lanes) {
    if (room === 0 || batches.length === TRANSACTION_LANES) break;
    const requests = events.slice(0, Math.min(room, LANE_EVENTS));
    room -= requests.length;
    batches.push({ lcid, requests });
    if (requests.length < events.length) rests.set(lcid, events.slice(requests.length));
    lanes.delete(lcid);
  }
  return { batches, rests };
}

async function applyNext(store: OrderStore, lanes: Lanes): Promise<number> {
  const { batches, rests } = takeBatch(lanes);
  for (const { trouble } of await store.apply(batches)) if (trouble !== null) throw trouble.error;
  for (const [lcid, rest] of rests) lanes.set(lcid, rest);
  return batches.reduce((sum, { requests }) => sum + requests.length, 0);
}

async function workOff(store: OrderStore, lanes: Lanes, onApplied: (events: number) => void): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  for (;;) {
    while (inFlight.size < BATCHES_AT_ONCE && lanes.size > 0) {
      const one = applyNext(store, lanes).then((events) => {
        inFlight.delete(one);
        onApplied(events);
      });
      inFlight.add(one);
    }
    if (inFlight.size === 0) return;
    await Promise.race(inFlight);
  }
}

/** The next file, as soon as it is there; null once the process is to end. */
async function fed(file: string, signal: AbortSignal): Promise<readonly EventJob[] | null> {
  while (!signal.aborted) {
    const text = await readFile(file, "utf8").catch(() => null);
    if (text !== null) return text.split("\n").map((line) => JSON.parse(line) as EventJob);
    await pause(LOOK_EVERY_MS);
  }
  return null;
}

async function run(): Promise<void> {
  const ending = new AbortController();
  process.once("SIGTERM", () => ending.abort());
  const { databaseUrl, poolSize } = groundOf(process.env);
  const folder = feedFolder({ databaseUrl });
  const store = createOrderStore({ databaseUrl, poolSize, worker: "sql-ceiling" });
  const progress = openSync(join(folder, DONE_FILE), "r+");
  let total = 0;
  const onApplied = (events: number): void => {
    total += events;
    // One write over what stands there: a reader never sees half of it, and a number only grows longer.
    writeSync(progress, String(total), 0);
  };
  process.stdout.write("started\n");
  for (let number = 1; ; number += 1) {
    const events = await fed(feedFile(folder, number), ending.signal);
    if (events === null) break;
    await workOff(store, lanesOf(events), onApplied);
  }
  closeSync(progress);
  await store.close();
}

await run();
