import type { Contender } from "./contender.ts";
import { bullmqEnv, bullmqSettings, openBullmqCarrier } from "./peer-queue.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";

const CONCURRENCY = 64;

export const pgRowLock: Contender = {
  name: "pg-row-lock",
  version: "bullmq 6.7.0",
  what: "BullMQ with no lock but the order's row in Postgres, which every transaction takes; keeps no order",
  settings: [
    ...bullmqSettings({
      concurrency: CONCURRENCY,
      why: "More than its connections only wait: here uniform gave 732 events a second at 16, 907 at 64 and 910 at 256, and hot and zipf the same at all of them, within what two runs differ by",
    }),
    {
      name: "lock_timeout, statement_timeout",
      value: "2 s, 5 s",
      why: "the store's defaults; whoever waits longer for the row is tried again",
      source: null,
    },
  ],
  promises: "one at a time",
  applies: true,
  script: processScript("pg-row-lock"),
  env: bullmqEnv({ concurrency: CONCURRENCY }),
  startedLine: STARTED_LINE,
  open: openBullmqCarrier,
};
