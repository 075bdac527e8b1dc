import type { Guard } from "./guard.ts";

/**
 * Publishing an event as one act, and what becomes of its job.
 *
 * Left out, since another guard stands behind it: no limit on how often a job may stall. A verdict about that is not read.
 * And job data too large for any event, which stays unread: what notices is worker-huge-jobs.test.ts, with 100 MiB.
 */

const SRC = "packages/event-queues/src";
const PUBLISHER = "test/event-queues/publisher.test.ts";
const LINE = "test/event-queues/publish-line.test.ts";
const PUBLISHER_OUTAGE = "test/event-queues/publisher-outage.test.ts";
const CONSUMER = "test/event-queues/consumer.test.ts";
const JOB_ENDS = "test/event-queues/job-ends.test.ts";
const OUTAGE = "test/event-queues/consumer-outage.test.ts";
const RAW = "test/event-queues/raw-jobs.test.ts";
const SILENT = "test/event-queues/silent-connections.test.ts";
const WORKER = "test/event-queues/event-worker.test.ts";

const QUEUE_CHUNK = "else this.#startAdding(await laneStation.queue(chunk), endsAtMs);";

export const EVENT_QUEUES_GUARDS: readonly Guard[] = [
  {
    promise: "an event has its place in the lane before its job is added",
    file: `${SRC}/publish-line.ts`,
    guard: QUEUE_CHUNK,
    without: `else {
        await this.#options.jobStation.add(chunk.map((item) => ({ ...item, depth: 1 })), timeoutMs);
        this.#startAdding(await laneStation.queue(chunk), endsAtMs);
      }`,
    tests: [{ file: PUBLISHER, title: "takes what fits and refuses the rest of that order" }],
  },
  {
    promise: "an event is acknowledged only once its job is there",
    file: `${SRC}/job-station.ts`,
    guard: "if (this.trouble === undefined) call.publish",
    without: "if (this.items.length > 0) call.publish",
    tests: [{ file: PUBLISHER, title: "leaves its event unacknowledged" }],
  },
  {
    promise: "a lane sees one call of a publisher at a time",
    file: `${SRC}/publish-line.ts`,
    guard: QUEUE_CHUNK,
    without: `else {
        const asked = chunk;
        laneStation.queue(asked).then(
          (result) => this.#startAdding(result, endsAtMs),
          (error) => this.#lose(asked, unavailable(error)),
        );
      }`,
    tests: [{ file: LINE, title: "lets a call that comes while another is at the lanes wait" }],
  },
  {
    promise: "nothing of an order follows an event of it that was refused",
    file: `${SRC}/lane-station.ts`,
    guard: "    item.call.refuseLane(lcidOf(item), error);\n",
    without: "",
    tests: [
      { file: LINE, title: "refuses the rest of an order in a call even when its lane has room again" },
    ],
  },
  {
    promise: "what waits is refused when Redis is lost, instead of each chunk waiting out its own limit",
    file: `${SRC}/publish-line.ts`,
    guard: "    this.#refuseWaiting(error);\n    if (error.code",
    without: "    if (error.code",
    tests: [{ file: PUBLISHER_OUTAGE, title: "everything that waits is refused once the limit has passed" }],
  },
  {
    promise: "a publisher whose Redis went silent starts over with another connection",
    file: `${SRC}/publish-line.ts`,
    guard: 'if (error.code === "REDIS_TIMEOUT") this.#options.redis.disconnect(true);',
    without: "",
    tests: [{ file: SILENT, title: "a publisher refuses what waits, and goes on over another one" }],
  },
  {
    promise: "replicas that were asked for have to confirm",
    file: `${SRC}/job-station.ts`,
    guard: "if (this.#options.waitReplicas > 0) {",
    without: "if (this.#options.waitReplicas < 0) {",
    tests: [{ file: PUBLISHER_OUTAGE, title: "refuses when none confirms" }],
  },
  {
    promise: "an event that is too large is refused at the door",
    file: `${SRC}/prepared-event.ts`,
    guard: "Buffer.byteLength(text) > MAX_EVENT_BYTES",
    without: "Buffer.byteLength(text) < 0",
    tests: [{ file: PUBLISHER, title: "is refused when it is too large" }],
  },
  {
    promise: "a number that JSON turns into null is not lost silently",
    file: `${SRC}/prepared-event.ts`,
    guard: "NULL_VALUE.test(text) ? withoutSilentNulls(event, reading.envelope) : reading.envelope",
    without: "reading.envelope",
    tests: [{ file: "test/event-queues/silent-nulls.test.ts" }],
  },
  {
    promise: "jobs of a deep lane let fresh work of others pass",
    file: `${SRC}/job-station.ts`,
    guard: "opts: priority === 0 ? {} : { priority }",
    without: "opts: {}",
    tests: [{ file: PUBLISHER, title: "falls with the depth of the lane" }],
  },
  {
    promise: "only so many failed jobs are kept",
    file: `${SRC}/event-worker.ts`,
    guard: "removeOnFail: { count: options.keepFailed },",
    without: "removeOnFail: false,",
    tests: [{ file: CONSUMER, title: "fails for good, with its reason, and only so many are kept" }],
  },
  {
    promise: "nothing of a finished job stays",
    file: `${SRC}/event-worker.ts`,
    guard: "removeOnComplete: { count: 0 },",
    without: "removeOnComplete: false,",
    tests: [{ file: CONSUMER, title: "leaves nothing of a finished one behind" }],
  },
  {
    promise: "a job runs once at a time in a process",
    file: `${SRC}/running-jobs.ts`,
    guard: "if (underWay !== undefined) return underWay;",
    without: "",
    tests: [{ file: CONSUMER, title: "does not run a job twice at once when its lock lapsed" }],
  },
  {
    promise: "a rejection of the processor puts its job back",
    file: `${SRC}/consumer.ts`,
    guard: 'kind: "delayed",\n        delayMs: Math.min(',
    without: 'kind: "completed",\n        delayMs: Math.min(',
    tests: [{ file: CONSUMER, title: "puts a job back when its processor rejects" }],
  },
  {
    promise: "a crash does not count as a step back",
    file: `${SRC}/consumer.ts`,
    guard: "job.attemptsStarted - 1 - job.stalledCounter",
    without: "job.attemptsStarted - 1",
    tests: [{ file: OUTAGE, title: "loses no job to it" }],
  },
  {
    promise: "a job whose end could not be written comes again instead of failing",
    file: `${SRC}/event-worker.ts`,
    guard: "    if (stumbled(error)) await this.#mend();\n    return NO_NEXT_JOB;",
    without: "    return super.handleFailed(error, ...([...arguments].slice(1) as [never, never]));",
    tests: [{ file: WORKER, title: "does not fail the job because its end could not be written" }],
  },
  {
    promise: "another worker's verdict about stalls fails no job",
    file: `${SRC}/plain-backend.ts`,
    guard: "if (FIELDS_READ.has(name)) plain.push(name, value);",
    without: "plain.push(name, value);",
    tests: [{ file: WORKER, title: "is processed all the same: a crash is no failure of the job" }],
  },
  {
    promise: "a record over which BullMQ's scripts stumble is mended",
    file: `${SRC}/event-worker.ts`,
    guard: "    if (stumbled(failure)) await this.#mend();\n",
    without: "",
    tests: [{ file: RAW, title: "a count of starts that is no number" }],
  },
  {
    promise: "a parent that is none keeps no job from failing",
    file: `${SRC}/plain-backend.ts`,
    guard: "if (unsound.length > 0)",
    without: "if (unsound.length < 0)",
    tests: [{ file: RAW, title: "without the parent that was none" }],
  },
  {
    promise: "what a publisher throws holds nothing of the event",
    file: `${SRC}/connection.ts`,
    guard: 'if (error instanceof Error) Reflect.deleteProperty(error, "command");',
    without: "",
    tests: [{ file: RAW, title: "what a publisher throws holds nothing of the event" }],
  },
  {
    promise: "a fetching loop that ended unnoticed is started again",
    file: `${SRC}/event-worker.ts`,
    guard: "    this.run().catch(this.#onError);\n",
    without: "",
    tests: [{ file: WORKER, title: "fetches again when it is looked after" }],
  },
  {
    promise: "fetching that is refused does not spin",
    file: `${SRC}/event-worker.ts`,
    guard: "await sleep(COOL_DOWN_MS, undefined, { signal: this.#cooling.signal }).catch(() => undefined);",
    without: "",
    tests: [{ file: OUTAGE, title: "fetching does not spin" }],
  },
  {
    promise: "a consumer whose connection owes an answer makes a new one",
    file: `${SRC}/consumer-connections.ts`,
    guard: "{ ...lastingSettings(), socketTimeout: silenceMs }",
    without: "lastingSettings()",
    tests: [{ file: SILENT, title: "a consumer fetches over another one" }],
  },
  {
    promise: "closing a consumer ends although Redis is away",
    file: `${SRC}/consumer.ts`,
    guard: "if (performance.now() - hopefulAtMs > GIVE_UP_ON_REDIS_MS) return;",
    without: "",
    tests: [{ file: OUTAGE, title: "ends although BullMQ's own close would not" }],
  },
  {
    promise: "closing a consumer is bounded by its deadline",
    file: `${SRC}/consumer.ts`,
    guard: "while (performance.now() < options.endsAtMs && !options.signal.aborted) {",
    without: "while (!options.signal.aborted) {",
    tests: [{ file: CONSUMER, title: "gives up on a processor that does not end" }],
  },
  {
    promise: "jobs that wait are told when their consumer closes",
    file: `${SRC}/consumer.ts`,
    guard: "    this.#stopping.abort();\n",
    without: "",
    tests: [{ file: CONSUMER, title: "tells running jobs to stop" }],
  },
  {
    promise: "one outage is one report",
    file: `${SRC}/error-reports.ts`,
    guard: "if (lastMs === undefined || nowMs - lastMs >= QUIET_MS) this.#report(known);",
    without: "this.#report(known);",
    tests: [{ file: "test/event-queues/error-reports.test.ts", title: "tell of an outage once" }],
  },
  {
    promise: "only failed jobs are dropped by hand",
    file: `${SRC}/reader.ts`,
    guard: "      if (!(await this.#isDead(family, id))) return false;\n      return (await",
    without: "      return (await",
    tests: [{ file: "test/event-queues/reader.test.ts", title: "drops nothing but failed jobs" }],
  },
  {
    promise: "a read-only Redis is left for another connection",
    file: `${SRC}/connection.ts`,
    guard: 'return error.message.startsWith("READONLY");',
    without: "return error.message === null;",
    tests: [{ file: SILENT, title: "is given up by a publisher" }],
  },
  {
    promise: "a database number that the server lacks is refused",
    file: `${SRC}/connection.ts`,
    guard: "await within(redis.select(db), withinMs);",
    without: "",
    tests: [{ file: "test/event-queues/database-number.test.ts" }],
  },
  {
    promise: "a script that the server has forgotten is sent whole",
    file: `${SRC}/job-ends.ts`,
    guard: 'error.message.includes("NOSCRIPT")',
    without: "false",
    tests: [{ file: JOB_ENDS, title: "after SCRIPT FLUSH" }],
  },
  {
    promise: "what BullMQ stumbles over in one job leaves those that end with it alone",
    file: "packages/event-queues/lua/complete-jobs.lua",
    guard: "local ended, answer = pcall(finish, keys, args)",
    without: "local ended, answer = true, finish(keys, args)",
    tests: [{ file: JOB_ENDS, title: "end although BullMQ stumbles over one of them" }],
  },
  {
    promise: "each job ends by its own token",
    file: "packages/event-queues/lua/complete-jobs.lua",
    guard: "local id, token = ARGV[index], ARGV[index + 1]",
    without: "local id, token = ARGV[index], ARGV[10]",
    tests: [{ file: JOB_ENDS, title: "are completed in one call" }],
  },
  {
    promise: "a job named like a key of its queue ends like any other",
    file: `${SRC}/job-ends.ts`,
    guard: '{ ...job, id: "" }',
    without: "job",
    tests: [{ file: JOB_ENDS, title: "end whatever their ids are" }],
  },
  {
    promise: "no call ends so many jobs that Redis does nothing else for long",
    file: `${SRC}/job-ends.ts`,
    guard: "this.#waiting.splice(0, most)",
    without: "this.#waiting.splice(0)",
    tests: [{ file: JOB_ENDS, title: "are completed in several calls" }],
  },
  {
    promise: "what an access list of Redis hides does not hide the rest",
    file: `${SRC}/connection.ts`,
    guard: "return error instanceof Error && /^(?:NOPERM|ERR) /.test(error.message);",
    without: "return error === null;",
    tests: [{ file: "test/event-queues/redis-facts.test.ts", title: "what an access list hides" }],
  },
  {
    promise: "whom Redis lets in is not guessed where it does not tell",
    file: `${SRC}/redis-facts.ts`,
    guard: 'bind === null || protectedMode !== "no" || !isOpen',
    without: 'protectedMode === "yes" || isOpen === false',
    tests: [{ file: "test/event-queues/redis-facts.test.ts", title: "what an access list hides" }],
  },
];
