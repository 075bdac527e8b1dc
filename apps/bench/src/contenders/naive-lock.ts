import type { Contender } from "./contender.ts";
import { bullmqEnv, bullmqSettings, openBullmqCarrier } from "./peer-queue.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";

const CONCURRENCY = 16;

export const naiveLock: Contender = {
  name: "naive-lock",
  version: "bullmq 6.7.0",
  what: "BullMQ with SET NX PX around the work; whoever finds the key taken is delayed 50 to 100 ms",
  settings: [
    ...bullmqSettings({
      concurrency: CONCURRENCY,
      why: "Two jobs of one order in hand delay each other, so that fewer are better: here uniform gave 836 events a second at 16, 649 at 64 and 493 at 256, hot 103, 58 and 15",
    }),
    {
      name: "lock",
      value: "SET key token NX PX 30000, released by GET and DEL",
      why: "as it is usually written; long enough that nothing here outlives it",
      source: "https://redis.io/docs/latest/commands/set/",
    },
    {
      name: "when the key is taken",
      value: "moveToDelayed by 50 to 100 ms, then DelayedError",
      why: "how BullMQ delays a job in hand; it counts no attempt",
      source: "https://docs.bullmq.io/patterns/process-step-jobs",
    },
  ],
  promises: "one at a time",
  applies: true,
  script: processScript("naive-lock"),
  env: bullmqEnv({ concurrency: CONCURRENCY }),
  startedLine: STARTED_LINE,
  open: openBullmqCarrier,
};
