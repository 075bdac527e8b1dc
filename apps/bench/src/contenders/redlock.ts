import type { Contender } from "./contender.ts";
import { BULLMQ_ENV, BULLMQ_SETTINGS, openBullmqCarrier } from "./peer-queue.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";

const README = "node_modules/@sesamecare-oss/redlock/README.md";

export const redlock: Contender = {
  name: "redlock",
  version: "@sesamecare-oss/redlock 1.4.0",
  what: "BullMQ with Redlock around the work",
  settings: [
    ...BULLMQ_SETTINGS,
    {
      name: "using",
      value: "[key], 5000",
      why: "the call and the duration of its own example; it extends itself",
      source: README,
    },
    {
      name: "retryCount, retryDelay, retryJitter",
      value: "10, 200 ms, 200 ms",
      why: "the values of its README; the jitter, twice the default, is there for high contention",
      source: README,
    },
    {
      name: "driftFactor, automaticExtensionThreshold",
      value: "0.01, 500 ms",
      why: "the values of its README, which are the defaults",
      source: README,
    },
    {
      name: "when the lock is not had",
      value: "the job fails and BullMQ tries it again",
      why: "after 11 attempts, some 2 s; nothing is lost by it",
      source: null,
    },
  ],
  promises: "one at a time",
  applies: true,
  script: processScript("redlock"),
  env: BULLMQ_ENV,
  startedLine: STARTED_LINE,
  open: openBullmqCarrier,
};
