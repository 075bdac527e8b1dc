import type { Contender } from "./contender.ts";
import { BULLMQ_ENV, BULLMQ_SETTINGS, openBullmqCarrier } from "./peer-queue.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";

export const pgRowLock: Contender = {
  name: "pg-row-lock",
  version: "bullmq 6.7.0",
  what: "BullMQ with no lock but the order's row in Postgres, which every transaction takes; keeps no order",
  settings: [
    ...BULLMQ_SETTINGS,
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
  env: BULLMQ_ENV,
  startedLine: STARTED_LINE,
  open: openBullmqCarrier,
};
