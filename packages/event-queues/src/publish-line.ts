import { channel } from "node:diagnostics_channel";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Redis } from "ioredis";
import { isOutage, unavailable, whenReady } from "./connection.ts";
import { InvalidEventError, QueueUnavailableError } from "./errors.ts";
import type { JobStation } from "./job-station.ts";
import type { LaneStation, LaneStationResult } from "./lane-station.ts";
import { prepareEvent } from "./prepared-event.ts";
import type { PublishCall } from "./publish-call.ts";
import type { Item, StandingItem } from "./publish-item.ts";

const CHUNK_EVENTS = 256;
const CHUNK_CHARACTERS = 1_048_576;
const CHUNKS_ADDING = 4;

/**
 * Told in this process on `node:diagnostics_channel` when events stand in their lanes and have no jobs yet, with the list of
 * their lcids.
 */
const STANDING = channel("junban.publish.standing");

export interface PublishLineOptions {
  readonly redis: Redis;
  readonly laneStation: Pick<LaneStation, "queue">;
  readonly jobStation: Pick<JobStation, "add">;
  readonly timeoutMs: number;
}

/**
 * Carries the events of all calls, first come first served, past two stations: the lane, then the job.
 *
 * 1. One chunk at a time is at the first station. So no lane ever sees two calls of this publisher at once, and the order
 *    of calls, and of events in a call, is the order of every lane.
 * 2. While a chunk's jobs are added, the next chunk is at the first station already; a few may be adding at once.
 * 3. A chunk takes whatever has gathered meanwhile, so many small calls share a round trip and a lonely one waits for
 *    nobody.
 * 4. When Redis is lost, everything that waits here is refused, instead of each chunk waiting out its own limit.
 */
export class PublishLine {
  readonly #options: PublishLineOptions;
  readonly #calls: PublishCall[] = [];
  readonly #adding = new Set<Promise<void>>();
  #moving: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: PublishLineOptions) {
    this.#options = options;
  }

  submit(call: PublishCall): void {
    if (this.#isClosed) {
      call.refuseRest(closedError());
      return;
    }
    if (call.isTaken) return;
    this.#calls.push(call);
    this.#moving ??= this.#move();
  }

  /** Takes no more, and lets what was submitted finish until the limit. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const limit = setTimeout(() => this.#refuseWaiting(closedError()), this.#options.timeoutMs);
    await this.#moving;
    await Promise.all(this.#adding);
    clearTimeout(limit);
  }

  async #move(): Promise<void> {
    // Calls made in the same turn of the event loop share the first chunk.
    await Promise.resolve();
    while (this.#calls.length > 0) await this.#moveChunk();
    this.#moving = undefined;
  }

  async #moveChunk(): Promise<void> {
    const { redis, laneStation, timeoutMs } = this.#options;
    let chunk: readonly Item[] = [];
    try {
      await whenReady(redis, { withinMs: timeoutMs });
      const endsAtMs = performance.now() + timeoutMs;
      chunk = this.#takeChunk();
      // A chunk of nothing but refusals must not keep the process from everything else.
      if (chunk.length === 0) await nextTurn();
      else this.#startAdding(await laneStation.queue(chunk), endsAtMs);
    } catch (error) {
      this.#lose(chunk, unavailable(error));
    }
    while (this.#adding.size >= CHUNKS_ADDING) await Promise.race(this.#adding);
  }

  #startAdding({ standing, outage }: LaneStationResult, endsAtMs: number): void {
    if (outage !== undefined) this.#lose([], outage);
    if (standing.length === 0) return;
    if (STANDING.hasSubscribers) STANDING.publish(standing.map(({ prepared }) => prepared.request.lcid));
    const adding = this.#add(standing, endsAtMs).finally(() => this.#adding.delete(adding));
    this.#adding.add(adding);
  }

  async #add(items: readonly StandingItem[], endsAtMs: number): Promise<void> {
    try {
      const trouble = await this.#options.jobStation.add(items, Math.max(1, endsAtMs - performance.now()));
      if (trouble !== undefined && isOutage(trouble)) this.#lose([], trouble);
    } catch (error) {
      this.#lose(items, unavailable(error));
    }
  }

  /** Redis is lost: refuses what is under way and all that waits, and starts over with a connection that may work. */
  #lose(items: readonly Item[], error: QueueUnavailableError): void {
    for (const item of items) item.call.refuse(item.index, error);
    this.#refuseWaiting(error);
    if (error.code === "REDIS_TIMEOUT") this.#options.redis.disconnect(true);
  }

  #refuseWaiting(error: QueueUnavailableError): void {
    for (const call of this.#calls.splice(0)) call.refuseRest(error);
  }

  #takeChunk(): readonly Item[] {
    const chunk: Item[] = [];
    let characters = 0;
    for (let looked = 0; looked < CHUNK_EVENTS && characters < CHUNK_CHARACTERS; looked += 1) {
      const [call] = this.#calls;
      if (call === undefined) break;
      const item = takeItem(call);
      if (item !== undefined) {
        chunk.push(item);
        characters += item.prepared.request.body.length;
      }
      if (call.isTaken) this.#calls.shift();
    }
    return chunk;
  }
}

/** The next event of a call, unless it is refused here and now. */
function takeItem(call: PublishCall): Item | undefined {
  const { index, event } = call.take();
  try {
    const prepared = prepareEvent(event);
    const refusal = call.refusalOf(prepared.request.lcid);
    if (refusal === undefined) return { call, index, prepared };
    call.refuse(index, refusal);
  } catch (error) {
    call.refuse(index, error instanceof InvalidEventError ? error : unavailable(error));
  }
  return undefined;
}

function closedError(): QueueUnavailableError {
  return new QueueUnavailableError({ code: "CLOSED", detail: "the publisher is closed" });
}
