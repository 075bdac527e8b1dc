import type { Guard } from "./guard.ts";

/** What was committed on its way downstream: who passes it on, what is passed on, and what must not stand in the way. */

const RELAY = "packages/relay/src";
const OUTBOX = "packages/order-store/src/outbox.ts";
const LEAD = "test/order-store/outbox-lead.test.ts";
const FLOW = "test/relay/relay.test.ts";
const TROUBLE = "test/relay/relay-trouble.test.ts";
const PASSING = "test/relay/passing-on.test.ts";

export const RELAY_GUARDS: readonly Guard[] = [
  {
    promise: "one process at a time passes news on",
    file: OUTBOX,
    guard: "if (answer.rows[0]?.taken !== true) return null;",
    without: "",
    tests: [{ file: LEAD, title: "is one process's at a time" }],
  },
  {
    promise: "a process that froze does not lead for ever",
    file: OUTBOX,
    guard: '  ["idle_session_timeout", "10000"],\n',
    without: "",
    tests: [{ file: LEAD, title: "does not stay with a process that froze" }],
  },
  {
    promise: "whoever lost the lead stops",
    file: OUTBOX,
    guard: "if (this.#isOver) throw new LeadLostError();",
    without: "",
    tests: [{ file: LEAD, title: "is lost with the connection" }],
  },
  {
    promise: "a commit wakes the relay",
    file: "packages/order-store/src/news-bell.ts",
    guard: "      this.ring();\n",
    without: "",
    tests: [{ file: LEAD, title: "hears of a commit at once" }],
    hangs: true,
  },
  {
    promise: "a relay that has nothing to pass on waits to be woken",
    file: `${RELAY}/relay.ts`,
    guard: "await lead.rung({ withinMs: pollMs, signal });",
    without: "await this.#pause(pollMs);",
    tests: [{ file: FLOW, title: "is woken by a commit" }],
  },
  {
    promise: "many commits wake the relay once",
    file: OUTBOX,
    guard: "    this.#hasRung = false;\n",
    without: "",
    tests: [{ file: LEAD, title: "hears of a commit at once" }],
  },
  {
    promise: "the same news have the same job",
    file: "packages/event-queues/src/updates-publisher.ts",
    guard: "const id = updateJobId({ lcid, version });",
    without: "const id = updateJobId({ lcid, version: version + performance.now() });",
    tests: [{ file: FLOW, title: "does not queue again what is in the queue already" }],
  },
  {
    promise: "news that nobody takes wait in the outbox",
    file: `${RELAY}/relay.ts`,
    guard: "if (room <= 0) {",
    without: "if (room <= Number.NEGATIVE_INFINITY) {",
    tests: [{ file: FLOW, title: "waits while the queue is full" }],
  },
  {
    promise: "what is in the queue leaves the outbox",
    file: `${RELAY}/relay.ts`,
    guard: "passedOn = passed.map(({ id }) => id);",
    without: "passedOn = passed.slice(0, 0).map(({ id }) => id);",
    tests: [{ file: FLOW, title: "puts what was committed into the queue" }],
  },
  {
    promise: "a row that is no news is parked",
    file: `${RELAY}/passing-on.ts`,
    guard: "if (reason === null) sound.push(one);",
    without: "sound.push(one);\n    if (reason === null) continue;",
    tests: [{ file: TROUBLE, title: "are parked with the reason" }],
  },
  {
    promise: "a parked version that the outbox holds already keeps back no other",
    file: "packages/order-store/src/parking.ts",
    guard: "        on conflict do nothing\n",
    without: "",
    tests: [{ file: "test/order-store/parked.test.ts", title: "the others go" }],
  },
  {
    promise: "what stays parked is not lost",
    file: "packages/order-store/src/parking.ts",
    guard: "delete from outbox_parked where id in (select id from back)",
    without: "delete from outbox_parked where id in (select id from found)",
    tests: [{ file: "test/order-store/parked.test.ts", title: "the others go" }],
  },
  {
    promise: "nothing is parked while the queue takes nothing",
    file: `${RELAY}/passing-on.ts`,
    guard: "  if (passed.length === 0) return { passed, refused: [], trouble };\n",
    without: "",
    tests: [{ file: PASSING, title: "blames the queue when it takes nothing at all" }],
  },
  {
    promise: "a version does not overtake one that may still be passed on",
    file: `${RELAY}/passing-on.ts`,
    guard: "    if (waiting.has(one.lcid)) continue;\n",
    without: "",
    tests: [{ file: PASSING, title: "names the ones that are refused while others are taken" }],
  },
  {
    promise: "an outage is not tried row by row",
    file: `${RELAY}/passing-on.ts`,
    guard: 'if (trouble.code !== "REDIS_REFUSED") return { passed: [], refused, trouble };',
    without: "",
    tests: [{ file: PASSING, title: "tries nothing by itself while Redis is away" }],
  },
  {
    promise: "a job that was written and not put in line does not pass for one that is there",
    file: "packages/event-queues/src/updates-publisher.ts",
    guard: "    if (this.#mayHaveLeftHalves) await this.#answered(async () => this.#clearHalves(news));\n",
    without: "",
    tests: [{ file: "test/relay/half-written-jobs.test.ts" }],
  },
  {
    promise: "no version is queued before an earlier one where memory runs out",
    file: "packages/event-queues/src/updates-publisher.ts",
    guard: "(await backend.client).multi();",
    without: "(await backend.client).pipeline();",
    tests: [{ file: "test/relay/memory-limit.test.ts", title: "when memory comes free while they arrive" }],
  },
  {
    promise: "a server that forgot its scripts is sent them for order updates too",
    file: "packages/event-queues/src/updates-publisher.ts",
    guard: 'refusal?.message.includes("NOSCRIPT") === true',
    without: 'refusal?.message === ""',
    tests: [{ file: "test/relay/memory-limit.test.ts", title: "forgot its scripts" }],
  },
  {
    promise: "a relay that does not lead has nothing in its way",
    file: `${RELAY}/relay.ts`,
    guard: 'if (lead === null) this.#overcome("outbox away", "queue away", "queue full");\n        else',
    without: "if (lead !== null)",
    tests: [{ file: TROUBLE, title: "the one that stood aside is well again" }],
  },
  {
    promise: "how long the oldest update has waited is told while it waits",
    file: `${RELAY}/relay.ts`,
    guard: "    if (limit > 0) observer.lag(news[0]?.ageMs ?? 0);\n",
    without: "",
    tests: [{ file: "test/relay/relay-process.test.ts", title: "how long the oldest update has waited" }],
  },
  {
    promise: "a relay that stands by is ready only while Redis would take what it passes on",
    file: "apps/relay/src/run-relay.ts",
    guard: 'ok: obstacle === null && redis === "answers"',
    without: "ok: obstacle === null",
    tests: [{ file: "test/relay/relay-process.test.ts", title: "is ready as a standby" }],
  },
  {
    promise: "a relay ends within its grace whatever does not answer",
    file: "packages/relay/src/open-relay.ts",
    guard: "const isClean = await Promise.race([isOver, late]);",
    without: "const isClean = await isOver.finally(async () => late);",
    tests: [{ file: "test/relay/relay-process.test.ts", title: "ends within its grace" }],
  },
  {
    promise: "a relay that runs by itself takes no Redis that may evict",
    file: "apps/relay/src/run-relay.ts",
    guard: "    isFinal: (error) => error instanceof EvictingRedisError,\n",
    without: "",
    tests: [{ file: "test/relay/relay-process.test.ts", title: "refuses a Redis that may evict" }],
  },
];
