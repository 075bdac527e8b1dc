import type { Guard } from "./guard.ts";

/**
 * What the store does about trouble, about events that wait or fail, and about orders that are over.
 *
 * Left out, since another guard stands behind each: `dueHeld` passes over halted orders (`expireHeld` looks again), and the
 * row of an applied event is never decided again (`replay` refuses it before).
 */

const SRC = "packages/order-store/src";
const ACKNOWLEDGE = "test/order-store/acknowledge.test.ts";
const ERRORS = "test/order-store/error-table.test.ts";
const GROUPS = "test/order-store/groups.test.ts";
const HELD = "test/order-store/held.test.ts";
const DEADLINES = "test/order-store/held-deadlines.test.ts";
const POISON = "test/order-store/poison.test.ts";
const RELEASE = "test/order-store/poison-release.test.ts";
const PURGE = "test/order-store/purge.test.ts";
const LIMITS = "test/order-store/turn-limits.test.ts";

const SURFACES = "surfaces as passing with its last error, bounded";

export const ORDER_STORE_GUARDS: readonly Guard[] = [
  {
    promise: "whoever queues for a connection learns what befell it",
    file: "packages/order-store/src/session.ts",
    guard: "isQueuing && isImpatience(error)",
    without: "isQueuing",
    tests: [
      { file: "test/order-store/session.test.ts", title: "whoever queues for a connection that is refused" },
    ],
  },
  {
    promise: "only errors that are known to pass are tried again",
    file: `${SRC}/errors.ts`,
    guard: '  return "unknown";\n}',
    without: '  return "passing";\n}',
    tests: [{ file: ERRORS, title: "surfaces at once as unknown" }],
  },
  {
    promise: "a deadlock is tried again",
    file: `${SRC}/errors.ts`,
    guard: '"40P01", ',
    without: "",
    tests: [{ file: ERRORS, title: "40P01 once: is retried" }],
  },
  {
    promise: "a session that the server ended is replaced by another",
    file: `${SRC}/errors.ts`,
    guard: 'if (state.startsWith("57P0")) return "lost";',
    without: "",
    tests: [{ file: ERRORS, title: "a session that the server ends once" }],
  },
  {
    promise: "passing trouble is not tried for ever",
    file: `${SRC}/apply.ts`,
    guard: "const MAX_TRIES = 4;",
    without: "const MAX_TRIES = 4_000;",
    and: [
      {
        file: `${SRC}/apply.ts`,
        guard: "return 10 * 2 ** tries * (0.5 + Math.random());",
        without: "return tries > 1e6 ? 0 : 1;",
      },
    ],
    tests: [{ file: ERRORS, title: SURFACES }],
  },
  {
    promise: "a batch that is too long for one statement is halved",
    file: `${SRC}/errors.ts`,
    guard: 'if (state === "57014") return "tooLong";',
    without: 'if (state === "57014") return "passing";',
    tests: [{ file: ERRORS, title: "a batch that is too long for one statement is halved" }],
  },
  {
    promise: "an event that is too long alone is no poison",
    file: `${SRC}/apply.ts`,
    guard: 'if (size === 1) return { kind: "stop", trouble: "passing" };',
    without: 'if (size === 1) return { kind: "poison" };',
    tests: [{ file: ERRORS, title: "a single event that never fits is reported passing" }],
  },
  {
    promise: "a row of the inbox that came in between answers, and is no poison",
    file: `${SRC}/errors.ts`,
    guard: 'if (state === "23505" && error.constraint === "order_events_pkey") return "inbox";',
    without: "",
    tests: [{ file: ERRORS, title: "23505 on the inbox key for ever" }],
  },
  {
    promise: "an event that the database refuses is found, and fails alone",
    file: `${SRC}/errors.ts`,
    guard: 'if (CONTENT_CLASSES.has(state.slice(0, 2))) return "content";',
    without: "",
    tests: [{ file: GROUPS, title: "fails that event alone: its prefix and the other lanes stand" }],
  },
  {
    promise: "the events before one that the database refuses are settled",
    file: `${SRC}/apply.ts`,
    guard: 'return size === 1 ? { kind: "poison" } : { kind: "again", size: 1, pauseMs: 0 };',
    without: 'return { kind: "poison" };',
    tests: [{ file: GROUPS, title: "fails that event alone: its prefix and the other lanes stand" }],
  },
  {
    promise: "an event whose body the database refuses is kept without it",
    file: `${SRC}/apply.ts`,
    guard: "    plain.map((event) => failing(event, ending, { keepBody: false })),\n",
    without: "",
    tests: [{ file: "test/order-store/refused-body.test.ts" }],
  },
  {
    promise: "an event whose text says more than what is read of it is kept as it was read",
    file: `${SRC}/apply.ts`,
    guard: "const plain = part.events.map(asRead);",
    without: "const plain = part.events;",
    tests: [{ file: "test/order-store/content.test.ts", title: "is decided and kept as it was read" }],
  },
  {
    promise: "a group that failed is tried lane by lane",
    file: `${SRC}/apply.ts`,
    guard: 'if (classify(error) !== "lost") return parts;',
    without: "if (error === null) return parts;",
    tests: [
      {
        file: ERRORS,
        title: "in one lane of several: the others are settled, and only that lane is in trouble",
      },
    ],
  },
  {
    promise: "a lane whose row was busy is tried alone",
    file: `${SRC}/apply.ts`,
    guard: 'if (outcome === undefined || outcome.kind === "busy") return true;',
    without: 'if (outcome === undefined || outcome.kind === "busy") return false;',
    tests: [{ file: GROUPS, title: "is waited for alone, after the others are committed" }],
  },
  {
    promise: "the head that killed its holders is given up",
    file: `${SRC}/apply.ts`,
    guard: "if (giveUpHead === true && head !== undefined) {",
    without: "if (giveUpHead === null && head !== undefined) {",
    tests: [{ file: LIMITS, title: "is settled failed CRASH_LOOP without being decided" }],
  },
  {
    promise: "events that wait are decided again after each application",
    file: `${SRC}/order-work.ts`,
    guard: "if (this.#held.size === 0) return;",
    without: "if (this.#held.size >= 0) return;",
    tests: [{ file: HELD, title: "a chain that waits for one event is applied whole" }],
  },
  {
    promise: "a held event that only a newer build can read is left to it after each application",
    file: `${SRC}/order-work.ts`,
    guard: "for (const place of this.#unread) this.setAside(place);",
    without: "",
    tests: [{ file: DEADLINES, title: "one that a newer build holds is left to it" }],
  },
  {
    promise: "an order holds a limited number of events",
    file: `${SRC}/order-work.ts`,
    guard: "this.#held.size >= HELD_LIMIT",
    without: "this.#held.size < 0",
    tests: [{ file: HELD, title: "a hundred may wait, the next is rejected HELD_LIMIT" }],
  },
  {
    promise: "a held event whose reason changed has its deadline moved by the difference, never anew",
    file: `${SRC}/order-work.ts`,
    guard: 'from: "deadline" as const',
    without: 'from: "now" as const',
    tests: [{ file: "test/order-store/held-reasons.test.ts", title: "moves its deadline by the difference" }],
  },
  {
    promise: "an order with a failed event is halted",
    file: `${SRC}/order-work.ts`,
    guard: "      this.#halted = true;\n",
    without: "",
    tests: [{ file: POISON, title: "is failed in its place" }],
  },
  {
    promise: "behind a halt events wait",
    file: `${SRC}/order-work.ts`,
    guard: 'if (this.#halted) return deferred("BLOCKED", { holdMs: null, from: "now" });',
    without: "",
    tests: [{ file: POISON, title: "is failed in its place" }],
  },
  {
    promise: "an event that is blocked is not decided out of its turn",
    file: `${SRC}/reading.ts`,
    guard: '[sql.lit("BLOCKED"), sql.lit("UNSUPPORTED")]',
    without: '[sql.lit("UNSUPPORTED")]',
    tests: [{ file: RELEASE, title: "decides the failed event in its place first" }],
  },
  {
    promise: "a decision that throws fails its event and nothing else",
    file: `${SRC}/order-work.ts`,
    guard: 'return this.#fail("DECISION_FAILED", describe(error));\n    }\n    switch',
    without: "throw error;\n    }\n    switch",
    tests: [{ file: POISON, title: "is failed in its place" }],
  },
  {
    promise: "a replayed event takes its place behind what still stands failed or blocked in front",
    file: `${SRC}/operating.ts`,
    guard: "const isBehind = order.row.halted && (await inFront(order, waiting.arrival)) > 0;",
    without: "const isBehind = false;",
    tests: [{ file: RELEASE, title: "of one that stands behind another failed event waits for its place" }],
  },
  {
    promise: "an alert is acknowledged once",
    file: `${SRC}/operating.ts`,
    guard: '      .where("alert", "=", sql.lit(true))\n',
    without: "",
    tests: [{ file: ACKNOWLEDGE, title: "an alert is acknowledged once" }],
  },
  {
    promise: "an applied event is not replayed",
    file: `${SRC}/operating.ts`,
    guard: 'row.outcome === "applied" || ',
    without: "",
    tests: [{ file: RELEASE, title: "of what is applied, deferred or unknown is refused" }],
  },
  {
    promise: "an order stays halted between the steps of its release",
    file: `${SRC}/operating.ts`,
    guard: "work.halt(more || work.stopped);",
    without: "work.halt(work.stopped);",
    tests: [{ file: RELEASE, title: "keeps the order halted between its steps" }],
  },
  {
    promise: "an order behind a failed event is not released",
    file: `${SRC}/operating.ts`,
    guard: "front === undefined || front.failed > 0",
    without: "front === undefined",
    tests: [{ file: RELEASE, title: "an order behind a failed event is not stuck" }],
  },
  {
    promise: "a release stops behind an event that fails again",
    file: `${SRC}/operating.ts`,
    guard: "    if (work.stopped) return index + 1;\n",
    without: "",
    tests: [{ file: RELEASE, title: "a blocked event that fails in its turn becomes the next culprit" }],
  },
  {
    promise: "events that an older build did not know wait while their order is halted",
    file: `${SRC}/operating.ts`,
    guard: "    if (order.row.halted) return 0;\n",
    without: "",
    tests: [{ file: DEADLINES, title: "while its order is halted nothing is decided" }],
  },
  {
    promise: "nothing expires while its order is halted",
    file: `${SRC}/expiring.ts`,
    guard: "    if (order.row.halted) return 0;\n",
    without: "",
    tests: [{ file: DEADLINES, title: "while the order is halted nothing expires" }],
  },
  {
    promise: "only what is overdue expires",
    file: `${SRC}/expiring.ts`,
    guard: '        .where(overdue)\n        .returning("lcid"),',
    without: '        .returning("lcid"),',
    tests: [{ file: DEADLINES, title: "others of the order still wait" }],
  },
  {
    promise: "a purge locks out new child rows from its first statement: FOR UPDATE",
    file: `${SRC}/purging.ts`,
    guard: ".where(finished).forUpdate()",
    without: ".where(finished).forNoKeyUpdate()",
    tests: [{ file: PURGE, title: "before it deletes anything" }],
  },
  {
    promise: "a purge leaves a tombstone",
    file: `${SRC}/purging.ts`,
    guard: "      bind(leaveTombstone, { lcid }),\n",
    without: "      bind(deleteLines, { lcid }),\n",
    tests: [{ file: PURGE, title: "a purged order leaves its tombstone" }],
  },
  {
    promise: "an order that still owes something is not purged",
    file: `${SRC}/purging.ts`,
    guard:
      "and refund_due_minor = 0 and void_due_minor = 0\n  and release_due = 0 and held = 0 and not halted",
    without: "",
    tests: [{ file: PURGE, title: "stays" }],
  },
  {
    promise: "an order with an open alert is not purged",
    file: `${SRC}/purging.ts`,
    guard: "\n  and not exists (select from order_events where order_events.lcid = orders.lcid and alert)",
    without: "",
    tests: [{ file: PURGE, title: "stays" }],
  },
  {
    promise: "an apply that waited at a row starts again when the row was purged",
    file: `${SRC}/transaction.ts`,
    guard: "if (purged) throw new PurgedMeanwhileError(part);",
    without: "",
    tests: [{ file: "test/order-store/purge-ends.test.ts", title: "starts again locked" }],
  },
  {
    promise: "an apply of a new order starts again when the order was purged meanwhile",
    file: `${SRC}/transaction.ts`,
    guard: "if (purged.has(part.lcid)) throw new PurgedMeanwhileError(part);",
    without: "",
    tests: [{ file: "test/order-store/purge-ends.test.ts", title: "starts again just made" }],
  },
];
