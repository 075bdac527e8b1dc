import type { Guard } from "./guard.ts";

/**
 * The transaction in which events are decided: its locks, what it reads before and after them, and how it ends.
 *
 * Left out, since taking it out only costs work: the pinned plans, the look whether an order waits at all before its held
 * events are decided again, and lapsed lanes that are told so before a connection is taken (they are told so again before
 * COMMIT). And the reading of which orders exist and which were purged behind the lock instead of in front of it: what it
 * would miss, the next try sees.
 */

const SRC = "packages/order-store/src";
const LOCKS = "test/order-store/row-locks.test.ts";
const GROUPS = "test/order-store/groups.test.ts";
const REDELIVERY = "test/order-store/redelivery.test.ts";
const SESSION = "test/order-store/session.test.ts";
const CONNECTIONS = "test/order-store/connections.test.ts";
const STRENGTH = "in exactly that strength";

const LOCK_ONE = `    .orderBy("lcid")
    .forNoKeyUpdate(),
);`;

const INBOX = `    bind(inbox, {
      sources: wanted.map(({ source }) => source),
      ids: wanted.map(({ id }) => id),
      digests: wanted.map(({ key }) => key),
    }),
`;

export const ORDER_TRANSACTION_GUARDS: readonly Guard[] = [
  {
    promise: "an order's row is locked before it is decided on",
    file: `${SRC}/reading.ts`,
    guard: LOCK_ONE,
    without: '    .orderBy("lcid"),\n);',
    tests: [{ file: LOCKS, title: STRENGTH }],
  },
  {
    promise: "the row lock lets rows that point at the order be inserted: FOR NO KEY UPDATE, not FOR UPDATE",
    file: `${SRC}/reading.ts`,
    guard: LOCK_ONE,
    without: '    .orderBy("lcid")\n    .forUpdate(),\n);',
    tests: [{ file: LOCKS, title: "does not wait for a transition under way" }],
  },
  {
    promise: "the row lock keeps other transitions out: FOR NO KEY UPDATE, not FOR SHARE",
    file: `${SRC}/reading.ts`,
    guard: LOCK_ONE,
    without: '    .orderBy("lcid")\n    .forShare(),\n);',
    tests: [{ file: LOCKS, title: STRENGTH }],
  },
  {
    promise: "a group passes over an order that is busy: SKIP LOCKED",
    file: `${SRC}/reading.ts`,
    guard: "    .forNoKeyUpdate()\n    .skipLocked(),",
    without: "    .forNoKeyUpdate(),",
    tests: [{ file: GROUPS, title: "is waited for alone, after the others are committed" }],
  },
  {
    promise: "several rows are locked in one fixed order",
    file: `${SRC}/reading.ts`,
    guard: '    .orderBy("lcid")\n    .forNoKeyUpdate()\n    .skipLocked(),',
    without: "    .forNoKeyUpdate()\n    .skipLocked(),",
    tests: [{ file: "test/order-store/statements.test.ts" }],
  },
  {
    promise: "rows of new orders are made in the same order",
    file: `${SRC}/reading.ts`,
    guard: '        .orderBy("wanted.lcid"),\n',
    without: "        ,\n",
    tests: [{ file: "test/order-store/statements.test.ts" }],
  },
  {
    promise: "the row of an order that exists is not offered again, which would wait for its holder",
    file: `${SRC}/reading.ts`,
    guard: '.whereRef("orders.lcid", "=", "wanted.lcid")',
    without: '.where("orders.lcid", "=", "")',
    tests: [{ file: GROUPS, title: "when it is written already and its placement comes again" }],
  },
  {
    promise: "a purged order gets no new row",
    file: `${SRC}/reading.ts`,
    guard: '.whereRef("purged_orders.lcid", "=", "wanted.lcid")',
    without: '.where("purged_orders.lcid", "=", "")',
    tests: [{ file: "test/order-store/purge.test.ts", title: "and make no new order" }],
  },
  {
    promise: "columns are read by their names, so that a new one stops nobody",
    file: `${SRC}/reading.ts`,
    guard: '.selectFrom("order_lines").select(LINE_COLUMNS)',
    without: '.selectFrom("order_lines").selectAll()',
    tests: [{ file: "test/order-store/migrations.test.ts", title: "a new column on any table stops nobody" }],
  },
  {
    promise: "the inbox answers for an event that was decided before",
    file: `${SRC}/order-work.ts`,
    guard: "if (earlier !== undefined) return settledAs(event, answerAgain(event, earlier), true);",
    without: "",
    tests: [{ file: REDELIVERY, title: "redelivery in any order, any number of times" }],
  },
  {
    promise: "the inbox is read behind the lock, not in front of it",
    file: `${SRC}/transaction.ts`,
    guard: INBOX,
    without: "",
    and: [
      { file: `${SRC}/transaction.ts`, guard: "    BEGIN,\n", without: `    BEGIN,\n${INBOX}` },
      {
        file: `${SRC}/transaction.ts`,
        guard: "const [, , locked, known, seen, lines",
        without: "const [, seen, , locked, known, lines",
      },
    ],
    tests: [{ file: LOCKS, title: "then sees the first one's inbox rows" }],
  },
  {
    promise: "an event that stands twice in one batch is decided once",
    file: `${SRC}/order-work.ts`,
    guard: "if (here !== undefined) {",
    without: "if (here === null) {",
    tests: [{ file: REDELIVERY, title: "twice over end in the same rows" }],
  },
  {
    promise: "the same identity with another body is a conflict",
    file: `${SRC}/verdicts.ts`,
    guard: "? earlier : CONFLICT",
    without: "? earlier : earlier",
    tests: [{ file: REDELIVERY, title: "is a conflict, and the first stands" }],
  },
  {
    promise: "a repeat is recognised by what it says, also under another digest",
    file: `${SRC}/verdicts.ts`,
    guard: "|| bodiesAgree(earlier.event, event.envelope)",
    without: "",
    tests: [{ file: REDELIVERY, title: "a repeat is recognised by what it says" }],
  },
  {
    promise: "an event of another order's lane leaves that order alone",
    file: `${SRC}/prepared.ts`,
    guard: "|| envelope.envelope.lcid !== lcid",
    without: "",
    tests: [{ file: "test/order-store/content.test.ts", title: "an event of another order's lane" }],
  },
  {
    promise: "the server refuses to write fewer or more rows than were decided",
    file: `${SRC}/writing.ts`,
    guard: "case when written = decided then written else refuse_miscount(written, decided) end as counts",
    without: "written as counts",
    tests: [{ file: "test/order-store/commit-cut.test.ts", title: "a row that goes missing on its way" }],
  },
  {
    promise: "a COMMIT that is answered with ROLLBACK is no commit of events",
    file: `${SRC}/transaction.ts`,
    guard: 'if (commit.command !== "COMMIT") {',
    without: 'if (commit.command === "") {',
    tests: [{ file: SESSION, title: "for the events of a lane" }],
  },
  {
    promise: "a COMMIT that is answered with ROLLBACK is no commit of upkeep",
    file: `${SRC}/locked-order.ts`,
    guard: 'if (command !== "COMMIT") {',
    without: 'if (command === "") {',
    tests: [{ file: SESSION, title: "for upkeep on a locked order" }],
  },
  {
    promise: "a COMMIT that is answered with ROLLBACK is no purge",
    file: `${SRC}/purging.ts`,
    guard: 'if (answers[5].command !== "COMMIT") {',
    without: 'if (answers[5].command === "") {',
    tests: [{ file: "test/order-store/purge-ends.test.ts", title: "is answered with ROLLBACK" }],
  },
  {
    promise: "the clock is compared with the lease before COMMIT",
    file: `${SRC}/transaction.ts`,
    guard: "performance.now() >= part.deadlineMs",
    without: "performance.now() < 0",
    tests: [
      { file: "test/order-store/turn-limits.test.ts", title: "while the transaction waited for a busy row" },
    ],
  },
  {
    promise: "only an idle connection goes back to the pool",
    file: `${SRC}/session.ts`,
    guard: 'const reusable = !this.#broken && this.#client.getTransactionStatus() === "I";',
    without: "const reusable = !this.#broken;",
    and: [
      {
        file: `${SRC}/session.ts`,
        guard: 'if (!this.#broken && this.#client.getTransactionStatus() !== "I") {',
        without: "if (this.#trips < 0) {",
      },
    ],
    tests: [
      { file: CONNECTIONS, title: "a transaction that waited too long for its lock leaves nothing either" },
    ],
  },
  {
    promise: "a connection on which something went wrong unseen is destroyed",
    file: `${SRC}/session.ts`,
    guard: "    this.#broken = true;\n    return new ConnectionLostError({ cause: reason });",
    without: "    return new ConnectionLostError({ cause: reason });",
    tests: [{ file: SESSION, title: "is never used again" }],
  },
  {
    promise: "a connection that drops while it is idle ends no process",
    file: `${SRC}/session.ts`,
    guard: '  pool.on("error", ignore);\n',
    without: "",
    tests: [{ file: "test/order-store/connection-errors.test.ts" }],
  },
  {
    promise: "a connection that drops while it is used ends no process",
    file: `${SRC}/session.ts`,
    guard: 'pool.on("connect", (client) => client.on("error", ignore));',
    without: "",
    tests: [{ file: "test/order-store/connection-errors.test.ts" }],
  },
  {
    promise: "a trip to a server that does not answer ends",
    file: `${SRC}/session.ts`,
    guard: "      }, this.#timeoutMs);",
    without: "      }, 2 ** 30);",
    hangs: true,
    tests: [
      {
        file: "test/order-store/server-faults.test.ts",
        title: "apply ends in bounded time with a typed error",
      },
    ],
  },
  {
    promise: "a pool that is used up passes, and calls no database down",
    file: `${SRC}/errors.ts`,
    guard: "    error instanceof OrderBusyError ||\n    error instanceof PoolBusyError\n",
    without: "    error instanceof OrderBusyError\n",
    tests: [{ file: CONNECTIONS, title: "whoever waits in vain for a connection" }],
  },
  {
    promise: "the server ends what a frozen process left open",
    file: `${SRC}/session.ts`,
    guard: "    idle_in_transaction_session_timeout: limits.idleTransactionTimeoutMs,\n",
    without: "",
    tests: [{ file: CONNECTIONS, title: "each session carries the limits" }],
  },
  {
    promise: "the server ends a transaction that lasts too long, whatever it does",
    file: `${SRC}/session.ts`,
    guard: "[String(limits.transactionTimeoutMs)]",
    without: '["0"]',
    tests: [{ file: CONNECTIONS, title: "each session carries the limits" }],
  },
  {
    promise: "reports show one moment of an order",
    file: `${SRC}/session.ts`,
    guard: "begin isolation level repeatable read read only",
    without: "begin isolation level read committed",
    tests: [{ file: "test/order-store/reading.test.ts", title: "an order's report is one moment of it" }],
  },
  {
    promise: "an audit compares rows and history of one moment",
    file: `${SRC}/auditing.ts`,
    guard: "      BEGIN_SNAPSHOT,\n",
    without: "      BEGIN_READING,\n",
    and: [
      {
        file: `${SRC}/auditing.ts`,
        guard: "/** Orders read in one snapshot. */\n",
        without:
          'const BEGIN_READING = { ...BEGIN_SNAPSHOT, text: "begin isolation level read committed" };\n',
      },
    ],
    tests: [{ file: "test/order-store/audit.test.ts", title: "rows and history of one moment" }],
  },
  {
    promise: "a migration that waits gives up fast",
    file: `${SRC}/migrate.ts`,
    guard: "    lock_timeout: lockTimeoutMs,\n",
    without: "",
    hangs: true,
    tests: [{ file: "test/order-store/migrations.test.ts", title: "gives up at its lock_timeout" }],
  },
  {
    promise: "an older build finds a newer schema in order",
    file: `${SRC}/migrate.ts`,
    guard: "if (pending.length === 0) return { applied: [], ahead };",
    without: "",
    tests: [
      { file: "test/order-store/migrations.test.ts", title: "an older build finds a newer schema in order" },
    ],
  },
  {
    promise: "one identity has one row, also under two orders",
    file: "migrations/0001_orders.sql",
    guard: "  primary key (source, event_id),\n",
    without: "",
    tests: [{ file: REDELIVERY, title: "one source and id under two orders at the same time" }],
  },
  {
    promise: "Postgres refuses money that does not add up",
    file: "migrations/0001_orders.sql",
    guard: "refunded_minor <= captured_minor and captured_minor + voided_minor <= authorized_minor",
    without: "true",
    tests: [
      {
        file: "test/order-store/poison.test.ts",
        title: "would break an invariant of the row is refused by Postgres",
      },
    ],
  },
  {
    promise: "the outbox holds one row for each version",
    file: "migrations/0001_orders.sql",
    guard: "create unique index outbox_unpublished",
    without: "create index outbox_unpublished",
    tests: [{ file: "test/order-store/outbox.test.ts", title: "the table itself refuses a version twice" }],
  },
];
