import type { Guard } from "./guard.ts";

/** What the queues of a worker do while a flood on few orders holds its slots. */

const SRC = "packages/event-queues/src";
const UNDER_WAY = "test/event-queues/ends-under-way.test.ts";
const SPARE = "test/event-queues/spare-slots.test.ts";
const JOB_ENDS = "test/event-queues/job-ends.test.ts";

export const QUEUES_BESIDE_A_FLOOD_GUARDS: readonly Guard[] = [
  {
    promise: "only so many jobs' ends are under way at a time",
    file: `${SRC}/ends-under-way.ts`,
    guard: "while (this.#jobs < bounds.underWay) {",
    without: "while (this.#waiting.length > 0) {",
    tests: [{ file: UNDER_WAY, title: "no more than 128 jobs are ended before some are answered" }],
  },
  {
    promise: "ends that are asked for while others are sent are counted after those",
    file: `${SRC}/ends-under-way.ts`,
    guard: "    if (this.#isSending) return;\n",
    without: "",
    tests: [{ file: UNDER_WAY, title: "whoever asks again while sending" }],
  },
  {
    promise: "less is ended at a time while others wait",
    file: `${SRC}/ends-under-way.ts`,
    guard: "    if (this.#clock() < this.#othersUntilMs) return BESIDE_OTHERS;\n",
    without: "",
    tests: [{ file: UNDER_WAY, title: "less is sent at a time while others wait" }],
  },
  {
    promise: "that deep lanes hold the slots is told to those that end jobs",
    file: `${SRC}/event-worker.ts`,
    guard: "if (isThere) options.underWay.crowdBegan();",
    without: "if (!isThere) options.underWay.crowdBegan();",
    tests: [{ file: JOB_ENDS, title: "are completed fewer a call where they are of deep lanes" }],
  },
  {
    promise: "a crowd that is over is told so",
    file: `${SRC}/spare-slots.ts`,
    guard: "    this.#options.onCrowd(false);\n",
    without: "",
    tests: [{ file: SPARE, title: "it is told of a crowd" }],
  },
  {
    promise: "less is ended at a time while deep lanes hold the slots",
    file: `${SRC}/ends-under-way.ts`,
    guard: "this.#crowds > 0 ? BESIDE_A_CROWD : ORDINARY",
    without: "ORDINARY",
    tests: [{ file: UNDER_WAY, title: "half as much is sent at a time while deep lanes hold the slots" }],
  },
  {
    promise: "jobs of other orders are taken beside those of a deep lane",
    file: `${SRC}/spare-slots.ts`,
    guard: "taken < wanted && !this.#isClosed; taken += 1) this.#take();",
    without: "taken < 0; taken += 1) this.#take();",
    tests: [{ file: SPARE, title: "is processed beside them" }],
  },
  {
    promise: "only so many slots are added",
    file: `${SRC}/spare-slots.ts`,
    guard: "Math.min(waiting, this.#most - this.#taken.size)",
    without: "waiting",
    tests: [{ file: SPARE, title: "no more than an eighth of the slots is added" }],
  },
  {
    promise: "a job of a deep lane gets no added slot",
    file: `${SRC}/event-worker.ts`,
    guard: 'await this.processJob(job, job.token ?? "", () => false)',
    without: 'await this.processJob(job, job.token ?? "", () => true)',
    tests: [{ file: SPARE, title: "nothing more of the deep lane" }],
  },
  {
    promise: "only jobs of first priority are looked for",
    file: `${SRC}/plain-backend.ts`,
    guard: "prioritized: nothing, pc: nothing, ",
    without: "",
    tests: [{ file: SPARE, title: "nothing more of the deep lane" }],
  },
  {
    promise: "looking leaves delayed jobs where they are",
    file: `${SRC}/plain-backend.ts`,
    guard: ", delayed: nothing }",
    without: " }",
    tests: [{ file: SPARE, title: "a delayed job of a deep lane is not lost" }],
  },
  {
    promise: "a paused consumer takes nothing into added slots",
    file: `${SRC}/event-worker.ts`,
    guard: "    if (this.isPaused() || this.closing !== undefined) return null;\n",
    without: "",
    tests: [{ file: SPARE, title: "a paused consumer takes nothing beside them" }],
  },
  {
    promise: "no slot is added where jobs of first priority hold them",
    file: `${SRC}/event-worker.ts`,
    guard: "const isDeep = job.priority > 0;",
    without: "const isDeep = true;",
    tests: [{ file: SPARE, title: "takes nothing beyond them" }],
  },
  {
    promise: "closing waits for the jobs in added slots",
    file: `${SRC}/event-worker.ts`,
    guard: "    if (force !== true) await this.#spare.close();\n",
    without: "",
    tests: [{ file: SPARE, title: "closing waits until the jobs beside them have ended" }],
  },
  {
    promise: "it is told when others wait beside a deep lane",
    file: `${SRC}/spare-slots.ts`,
    guard: "    if (waiting > 0) this.#options.onFound();\n",
    without: "",
    tests: [{ file: SPARE, title: "it is told that others wait" }],
  },
];
