import { FAMILIES } from "@junban/orders";
import type { Family } from "@junban/orders";
import type { Redis } from "ioredis";
import { unavailable, within } from "./connection.ts";
import { QueueUnavailableError } from "./errors.ts";
import type { FamilyQueues } from "./family-queues.ts";
import { priorityFor } from "./priority.ts";
import type { StandingItem } from "./publish-item.ts";

export interface JobStationOptions {
  readonly redis: Redis;
  readonly queues: FamilyQueues;
  readonly waitReplicas: number;
}

/**
 * Second station: adds the job of each event that stands in its lane, and only then acknowledges it.
 *
 * BullMQ does not add many jobs as one: when one of a family's batch fails, all of that batch are refused although some
 * were added. Publishing them again adds second jobs, which find their event decided.
 */
export class JobStation {
  readonly #options: JobStationOptions;

  constructor(options: JobStationOptions) {
    this.#options = options;
  }

  /** Settles every item, within the limit. Answers with the trouble there was, if any. */
  async add(items: readonly StandingItem[], limitMs: number): Promise<QueueUnavailableError | undefined> {
    const endsAtMs = performance.now() + limitMs;
    const batches = FAMILIES.map((family) => new Batch(family, items));
    await Promise.all(batches.map(async (batch) => batch.attempt(within(this.#addJobs(batch), limitMs))));
    if (this.#options.waitReplicas > 0) {
      const leftMs = Math.max(1, endsAtMs - performance.now());
      const replicated = this.#awaitReplicas(leftMs);
      await Promise.all(batches.map(async (batch) => batch.attempt(replicated)));
    }
    for (const batch of batches) batch.settle();
    return batches.find((batch) => batch.trouble !== undefined)?.trouble;
  }

  async #addJobs({ family, items }: Batch): Promise<void> {
    if (items.length === 0) return;
    const jobs = items.map(({ depth, prepared: { envelope } }) => {
      const priority = priorityFor(depth);
      return { name: envelope.type, data: envelope, opts: priority === 0 ? {} : { priority } };
    });
    await this.#options.queues[family].addBulk(jobs);
  }

  async #awaitReplicas(limitMs: number): Promise<void> {
    const { redis, waitReplicas } = this.#options;
    // Redis answers at the latest after the time it is given; the rest is for the way back.
    const confirmed = await within(redis.wait(waitReplicas, Math.ceil(limitMs / 2)), limitMs);
    if (confirmed >= waitReplicas) return;
    throw new QueueUnavailableError({
      code: "REPLICAS_BEHIND",
      detail: `${confirmed} of ${waitReplicas} replicas confirmed`,
    });
  }
}

/** One family's part of a chunk. */
class Batch {
  readonly family: Family;
  readonly items: readonly StandingItem[];
  trouble: QueueUnavailableError | undefined;

  constructor(family: Family, items: readonly StandingItem[]) {
    this.family = family;
    this.items = items.filter((item) => item.prepared.family === family);
  }

  async attempt(step: Promise<void>): Promise<void> {
    try {
      await step;
    } catch (error) {
      this.trouble ??= unavailable(error);
    }
  }

  settle(): void {
    for (const { call, index, depth, prepared } of this.items) {
      const { lcid, key } = prepared.request;
      if (this.trouble === undefined) call.publish(index, { lcid, key, depth, priority: priorityFor(depth) });
      else call.refuse(index, this.trouble);
    }
  }
}
