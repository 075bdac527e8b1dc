import type { Guard } from "./guard.ts";

/** What a lane with many requests does for the others of its process. */

const SRC = "apps/worker/src";
const SERVER = "test/fleet/worker-lane-server.test.ts";

export const MAKING_ROOM_GUARDS: readonly Guard[] = [
  {
    promise: "a lane takes short batches while others are served too",
    file: `${SRC}/lane-server.ts`,
    guard: "this.#company.isThere ? Math.min(SHORT_BATCH, this.#options.laneBatch) : null",
    without: "null",
    tests: [{ file: SERVER, title: "short ones while another lane is served too" }],
  },
  {
    promise: "a lane that is alone takes whole batches",
    file: `${SRC}/company.ts`,
    guard: "turns > 1",
    without: "turns > 0",
    tests: [{ file: SERVER, title: "a lane takes whole batches while it is alone" }],
  },
  {
    promise: "a lane takes a short batch of a whole one that it was handed before others came",
    file: `${SRC}/lane-server.ts`,
    guard: "return this.#company.isThere ? requests.slice(0, SHORT_BATCH) : requests;",
    without: "return requests;",
    tests: [{ file: SERVER, title: "no more than a short batch of what it was handed" }],
  },
  {
    promise: "a lane makes room as soon as a job of another one is on its way",
    file: `${SRC}/job.ts`,
    guard: '    if (way === "first") server.expectOthers();\n',
    without: "",
    tests: [{ file: SERVER, title: "as soon as a job of another one is on its way" }],
  },
  {
    promise: "a deep lane stands aside while others are there",
    file: `${SRC}/lane-server.ts`,
    guard: "      await this.#standAside(service, tookMs);\n",
    without: "",
    tests: [{ file: SERVER, title: "a deep lane stands aside as long as its transaction took" }],
  },
  {
    promise: "standing aside has an end",
    file: `${SRC}/lane-server.ts`,
    guard: "await pause(Math.min(tookMs, ASIDE_MOST_MS));",
    without: "await pause(tookMs);",
    tests: [{ file: SERVER, title: "a deep lane stands aside no longer than 50 ms" }],
  },
  {
    promise: "a lane that is alone, or has little in it, does not stand aside",
    file: `${SRC}/lane-server.ts`,
    guard: "    if (!this.#company.isThere || requests.length < SHORT_BATCH) return;\n",
    without: "",
    tests: [{ file: SERVER, title: "a lane stands aside neither while it is alone" }],
  },
  {
    promise: "nobody is expected where no lane is served",
    file: `${SRC}/lane-server.ts`,
    guard: "if (this.#turns > 0) this.#company.expect();",
    without: "this.#company.expect();",
    tests: [{ file: SERVER, title: "nobody is expected where no lane is served" }],
  },
];
