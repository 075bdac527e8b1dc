import { readEnvelopeText } from "@junban/orders";
import { Redis } from "ioredis";
import type { Ground } from "../contenders/contender.ts";
import type { EventJob } from "../contenders/event-job.ts";

/** What a recovery or retry test wants to happen once in the whole fleet, by the event's id. */
export interface Seams {
  /** Passes, or throws, or never ends. */
  before(job: EventJob): Promise<void>;
  close(): Promise<void>;
}

/** Thrown once for the event named by BENCH_FAIL_ONCE, by whoever tries it first. */
export class FailedOnPurposeError extends Error {
  readonly code = "FAILED_ON_PURPOSE";
  readonly id: string;
  constructor({ id }: { id: string }) {
    super(`event ${id} fails once, as the bench asked`);
    this.name = "FailedOnPurposeError";
    this.id = id;
  }
}

/** Null in an ordinary run, which then pays nothing for them. */
export function seamsOf(env: NodeJS.ProcessEnv, { redisUrl, prefix }: Ground): Seams | null {
  const failOnce = env["BENCH_FAIL_ONCE"];
  const hangOn = env["BENCH_HANG_ON"];
  if (failOnce === undefined && hangOn === undefined) return null;
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const isFirst = async (what: string, id: string): Promise<boolean> =>
    (await redis.set(`${prefix}:bench:${what}:${id}`, String(process.pid), "NX")) === "OK";
  return {
    before: async ({ body }) => {
      const reading = readEnvelopeText(body);
      const id = reading.kind === "usable" ? reading.envelope.id : "";
      if (id === hangOn && (await isFirst("hang-on", id))) {
        process.stdout.write(`holding ${id}\n`);
        await new Promise<never>(() => undefined);
      }
      if (id === failOnce && (await isFirst("fail-once", id))) {
        process.stdout.write(`failing ${id}\n`);
        throw new FailedOnPurposeError({ id });
      }
    },
    close: async () => {
      await redis.quit();
    },
  };
}
