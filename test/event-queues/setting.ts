import type { Family } from "@junban/orders";
import { startRedis } from "@junban/sandbox";
import type { RedisOptions, RedisServer } from "@junban/sandbox";
import type { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { lastingSettings, openConnection } from "../../packages/event-queues/src/connection.ts";
import { openFamilyQueues } from "../../packages/event-queues/src/family-queues.ts";
import type { FamilyQueues } from "../../packages/event-queues/src/family-queues.ts";
import { consume, createQueueReader } from "../../packages/event-queues/src/index.ts";
import type {
  ConsumeOptions,
  Consumer,
  IncomingJob,
  QueueReader,
} from "../../packages/event-queues/src/index.ts";

/** A Redis and the corner of it that a test uses. */
export interface Corner {
  readonly url: string;
  readonly prefix: string;
}

export interface TestConsumer extends Consumer {
  readonly jobs: readonly IncomingJob[];
  readonly errors: readonly Error[];
}

export type Overrides = Partial<Omit<ConsumeOptions, "redis" | "prefix">>;

/** A consumer of all payments that notes what it is given; closed when the test is over. */
export function startConsumer(corner: Corner, overrides: Overrides = {}): TestConsumer {
  const jobs: IncomingJob[] = [];
  const errors: Error[] = [];
  const { process = async () => ({ kind: "completed" as const }), ...rest } = overrides;
  const consumer = consume({
    redis: corner.url,
    prefix: corner.prefix,
    families: ["payment"],
    concurrency: 8,
    lockDurationMs: 10_000,
    keepFailed: 100,
    ...rest,
    process: async (job, signal) => {
      jobs.push(job);
      return process(job, signal);
    },
    onError: (error) => errors.push(error),
  });
  onTestFinished(async () => consumer.close({ deadlineMs: 2_000 }));
  return Object.assign(consumer, { jobs, errors });
}

export function openReader(corner: Corner): QueueReader {
  const reader = createQueueReader({ redis: corner.url, prefix: corner.prefix });
  onTestFinished(async () => reader.close());
  return reader;
}

/** A Redis of the test's own, for tests that stop, freeze or fill it. */
export async function startOwnRedis(options: RedisOptions = {}): Promise<RedisServer & Corner> {
  const server = await startRedis(options);
  onTestFinished(async () => server.stop());
  return Object.assign(server, { prefix: "junban" });
}

/** A plain connection that lasts through outages. */
export function connectTo(corner: Corner): Redis {
  const client = openConnection(corner.url, lastingSettings());
  client.on("error", () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

/** The queues as a producer without our publisher sees them. */
export function openPlainQueues(corner: Corner): FamilyQueues {
  return openFamilyQueues(connectTo(corner), { prefix: corner.prefix });
}

export async function addJobs(queues: FamilyQueues, family: Family, count: number): Promise<string[]> {
  const jobs = Array.from({ length: count }, (_, index) => ({ name: `${family}.test`, data: { index } }));
  const added = await queues[family].addBulk(jobs);
  return added.map((job) => job.id ?? "");
}

/** A promise and the means to settle it. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
