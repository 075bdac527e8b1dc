import { fileURLToPath } from "node:url";

/** One way of emptying the same queues, run as a process of its own. */
export interface Contender {
  readonly name: string;
  readonly what: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  /** A line it prints once it fetches jobs. */
  readonly startedLine: RegExp;
  /** Whether it applies the events, so that the store can be asked what came of them. */
  readonly applies: boolean;
}

const WORKER = fileURLToPath(new URL("../../worker/dist/main.js", import.meta.url));
const EMPTY = fileURLToPath(new URL("../dist/empty-processor.js", import.meta.url));

export const CONTENDERS: readonly Contender[] = [
  {
    name: "junban",
    what: "one worker process, default settings",
    script: WORKER,
    env: {},
    startedLine: /the worker serves/u,
    applies: true,
  },
  {
    name: "junban-single",
    what: "the same worker, one event a batch and one lane a commit",
    script: WORKER,
    env: { JUNBAN_LANE_BATCH: "1", JUNBAN_COMMIT_LANES: "1" },
    startedLine: /the worker serves/u,
    applies: true,
  },
  {
    name: "bullmq-noop",
    what: "BullMQ with an empty processor on the same queues and slots: the carrier's own ceiling",
    script: EMPTY,
    env: {},
    startedLine: /started/u,
    applies: false,
  },
];
