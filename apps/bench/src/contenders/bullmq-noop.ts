import { openFamilyQueues } from "./bullmq-carrier.ts";
import type { Contender } from "./contender.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";

export const bullmqNoop: Contender = {
  name: "bullmq-noop",
  version: "bullmq 6.7.0",
  what: "BullMQ with an empty processor on the same queues and slots: the carrier's own ceiling",
  settings: [
    { name: "concurrency", value: "128", why: "slots of each of four queues, as the worker's", source: null },
    {
      name: "removeOnComplete",
      value: "{ count: 0 }",
      why: "finished jobs are not kept, as nobody keeps them here",
      source: "https://docs.bullmq.io/guide/queues/auto-removal-of-jobs",
    },
  ],
  promises: "nothing",
  applies: false,
  script: processScript("bullmq-noop"),
  env: {},
  startedLine: STARTED_LINE,
  open: openFamilyQueues,
};
