import assert from "node:assert/strict";
import { createLanes } from "@junban/handoff-lock";
import type { Lanes } from "@junban/handoff-lock";
import type { Redis } from "ioredis";
import { answeringSettings, openConnection } from "./connection.ts";
import type { RedisAddress } from "./connection.ts";
import { openFamilyQueues } from "./family-queues.ts";
import { JobStation } from "./job-station.ts";
import { LaneStation } from "./lane-station.ts";
import { QUEUE_PREFIX } from "./names.ts";
import { PublishCall } from "./publish-call.ts";
import { PublishLine } from "./publish-line.ts";
import type { Published, PublishResult } from "./publish-result.ts";

export interface PublisherOptions {
  /** A client given here lends its address and credentials; the publisher opens a connection of its own. */
  readonly redis: RedisAddress;
  /** Default `junban`. */
  readonly prefix?: string;
  /** Requests that may stand in one lane. Default 10,000. */
  readonly laneCap?: number;
  /** Lifetime of an untouched lane, in milliseconds. Default 7 days. */
  readonly laneTtlMs?: number;
  /** Replicas that must confirm before an event is acknowledged. Default 0. */
  readonly waitReplicas?: number;
  /** Longest time without progress before everything that is not acknowledged is refused, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

export interface Publisher {
  /**
   * Resolves once lane and job are both in Redis; rejects with a {@link PublishError}. Publishing again is always safe.
   * Calls made one after the other keep their order per lcid, whether or not the caller waits in between. Do not change
   * an event before its promise settles.
   */
  publish(event: unknown): Promise<Published>;
  /**
   * One result per event, in the given order. Never rejects because of an event or of Redis. Once an event of an lcid was
   * refused by its lane, the rest of that lcid in this call is refused too; an unusable event holds up nobody.
   */
  publishAll(events: readonly unknown[]): Promise<readonly PublishResult[]>;
  /** Lets what is under way finish, within `timeoutMs`; later calls are refused with code `CLOSED`. */
  close(): Promise<void>;
}

/** Connects at once. @throws {AssertionError} for an option out of its range. */
export function createPublisher(options: PublisherOptions): Publisher {
  return new LanePublisher(options);
}

class LanePublisher implements Publisher {
  readonly #redis: Redis;
  readonly #lanes: Lanes;
  readonly #line: PublishLine;
  #closing: Promise<void> | undefined;

  constructor(options: PublisherOptions) {
    const { prefix = QUEUE_PREFIX, laneCap, laneTtlMs, waitReplicas = 0, timeoutMs = 5_000 } = options;
    const redis = openConnection(options.redis, answeringSettings({ timeoutMs }));
    // Each call answers for itself.
    redis.on("error", () => undefined);
    const lanes = createLanes({
      redis,
      // Only those who wait in a lane listen; a publisher never does, so this one never connects.
      subscriber: redis.duplicate({ lazyConnect: true }),
      prefix,
      commandTimeoutMs: timeoutMs,
      ...(laneCap === undefined ? {} : { cap: laneCap }),
      ...(laneTtlMs === undefined ? {} : { laneTtlMs }),
    });
    const queues = openFamilyQueues(redis, { prefix });
    this.#redis = redis;
    this.#lanes = lanes;
    this.#line = new PublishLine({
      redis,
      laneStation: new LaneStation({ lanes, timeoutMs }),
      jobStation: new JobStation({ redis, queues, waitReplicas }),
      timeoutMs,
    });
  }

  async publish(event: unknown): Promise<Published> {
    const [result] = await this.publishAll([event]);
    assert(result !== undefined, "a call settles each of its events");
    if (result.kind === "refused") throw result.error;
    const { kind: _kind, ...published } = result;
    return published;
  }

  async publishAll(events: readonly unknown[]): Promise<readonly PublishResult[]> {
    const call = new PublishCall(events);
    this.#line.submit(call);
    return call.done;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    await this.#line.close();
    await this.#lanes.close();
    this.#redis.disconnect();
  }
}
