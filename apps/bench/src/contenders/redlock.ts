import type { Contender } from "./contender.ts";
import { bullmqEnv, bullmqSettings, openBullmqCarrier } from "./peer-queue.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";

const README = "node_modules/@sesamecare-oss/redlock/README.md";
const CONCURRENCY = 16;

export const redlock: Contender = {
  name: "redlock",
  version: "@sesamecare-oss/redlock 1.4.0",
  what: "BullMQ with Redlock around the work",
  settings: [
    ...bullmqSettings({
      concurrency: CONCURRENCY,
      why: "Jobs that wait for one lock ask for it again and again, so that fewer are better: here uniform gave 798 events a second at 16, 630 at 64 and 577 at 256, hot 372, 342 and 243",
    }),
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
  env: bullmqEnv({ concurrency: CONCURRENCY }),
  startedLine: STARTED_LINE,
  open: openBullmqCarrier,
};
