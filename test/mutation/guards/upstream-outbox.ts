import type { Guard } from "./guard.ts";

/** A producer's outbox: written with the producer's own rows, forwarded in commit order, by one forwarder at a time. */

const SRC = "packages/upstream-outbox/src";
const MIGRATION = "packages/upstream-outbox/migrations/0001_upstream_outbox.sql";
const ENQUEUE = "test/upstream-outbox/enqueue.test.ts";
const ORDER = "test/upstream-outbox/commit-order.test.ts";
const FORWARDING = "test/upstream-outbox/forwarding.test.ts";
const PROCESS = "test/forwarder/forwarder-process.test.ts";
const SEVERAL = "test/upstream-outbox/several-forwarders.test.ts";

export const UPSTREAM_OUTBOX_GUARDS: readonly Guard[] = [
  {
    promise: "an outbox numbers the rows of one order in the order of their commits",
    file: MIGRATION,
    guard: "  perform pg_advisory_xact_lock(hashtextextended(order_name, 5577006791947779410));",
    without: "",
    tests: [{ file: ORDER, title: "of the one before" }],
  },
  {
    promise: "a row that commits behind a higher number is forwarded as well",
    file: `${SRC}/outbox-session.ts`,
    guard: "where forwarded_at is null and parked_at is null and not (lcid = any($2::text[]))",
    without: `where id > (select coalesce(max(id), 0) from junban_upstream.events where forwarded_at is not null)
    and parked_at is null and not (lcid = any($2::text[]))`,
    tests: [{ file: ORDER, title: "commits behind a higher number" }],
  },
  {
    promise: "plain SQL cannot put an event without an identity into the outbox",
    file: MIGRATION,
    guard: "if broken is not null then",
    without: "if false then",
    tests: [{ file: ENQUEUE, title: "refuses what has no usable identity" }],
  },
  {
    promise: "an event that cannot be used never reaches the producer's transaction",
    file: `${SRC}/enqueue.ts`,
    guard: "const text = usableText(event);",
    without: "usableText.toString(); const text = JSON.stringify(event);",
    tests: [{ file: ENQUEUE, title: "and the transaction goes on without it" }],
  },
  {
    promise: "data that breaks a rule never reaches the producer's transaction",
    file: `${SRC}/usable-event.ts`,
    guard: 'if (meaning.kind === "invalid") throw new UnusableEventError(meaning);',
    without: "",
    tests: [{ file: ENQUEUE, title: "naming the place" }],
  },
  {
    promise: "no event is written by a pool, on whichever connection is free",
    file: `${SRC}/enqueue.ts`,
    guard: 'if ("totalCount" in transaction)',
    without: "if (false)",
    tests: [{ file: ENQUEUE, title: "could not take it back" }],
  },
  {
    promise: "no event is written by a client that has not begun a transaction",
    file: `${SRC}/enqueue.ts`,
    guard: 'if (status === "I" || status === null)',
    without: 'if (status === "never")',
    tests: [{ file: ENQUEUE, title: "could not take it back" }],
  },
  {
    promise: "no event is written by a kysely that is no transaction",
    file: `${SRC}/enqueue.ts`,
    guard: "if (!transaction.isTransaction)",
    without: "if (transaction.isTransaction === null)",
    tests: [{ file: ENQUEUE, title: "through kysely's transaction" }],
  },
  {
    promise: "of several forwarders one leads",
    file: `${SRC}/outbox-session.ts`,
    guard: "return rows[0]?.leads === true;",
    without: "return rows.length > 0;",
    tests: [{ file: SEVERAL, title: "when it is closed" }],
  },
  {
    promise: "no order has the name of the forwarders' lock",
    file: `${SRC}/outbox-session.ts`,
    guard: "\"hashtext('junban_upstream'), hashtext('forwarder')\"",
    without: "\"hashtextextended('junban_upstream.forwarder', 5577006791947779410)\"",
    tests: [{ file: ORDER, title: "the name of the forwarders' lock" }],
  },
  {
    promise: "a frozen forwarder loses the lead",
    file: `${SRC}/outbox-session.ts`,
    guard: "\"select set_config('idle_session_timeout', $1, false), ",
    without: '"select $1::text, ',
    tests: [{ file: SEVERAL, title: "SIGSTOP" }],
  },
  {
    promise: "a forwarder with nothing to do keeps the lead",
    file: `${SRC}/outbox-session.ts`,
    guard: 'await this.#ask("select 1", []).catch(() => undefined);',
    without: "await Promise.resolve();",
    tests: [{ file: SEVERAL, title: "in which nothing happens" }],
  },
  {
    promise: "a row is marked only when the publisher has answered for it",
    file: `${SRC}/forwarder.ts`,
    guard: "    tell(READ, rows);",
    without: "    await session.settle({ forwarded: rows, parked: [] });\n    tell(READ, rows);",
    tests: [{ file: SEVERAL, title: "between reading and publishing" }],
  },
  {
    promise: "a row that nobody took is not marked",
    file: `${SRC}/verdicts.ts`,
    guard: "else outage ??= result.error;",
    without: "else { outage ??= result.error; forwarded.push(row); }",
    tests: [{ file: FORWARDING, title: "no answer for" }],
  },
  {
    promise: "a commit wakes the forwarder",
    file: `${SRC}/outbox-session.ts`,
    guard: 'await this.#ask("listen junban_upstream", []);',
    without: "",
    tests: [{ file: FORWARDING, title: "as soon as it is told of it" }],
    hangs: true,
  },
  {
    promise: "a commit that nobody heard of is found",
    file: `${SRC}/forwarder.ts`,
    guard: "Math.min(this.#options.pollMs, this.#resting.nextInMs() ?? Infinity)",
    without: "this.#resting.nextInMs() ?? 600_000",
    tests: [{ file: FORWARDING, title: "nobody told it of" }],
    hangs: true,
  },
  {
    promise: "what can never be published holds up nobody",
    file: `${SRC}/verdicts.ts`,
    guard: "parked.push(parkedRow(row, result.error));",
    without: "{ parkedRow(row, result.error); outage ??= result.error; }",
    tests: [{ file: FORWARDING, title: "parks what can never be published" }],
    hangs: true,
  },
  {
    promise: "a full lane holds up no other order",
    file: `${SRC}/forwarder.ts`,
    guard: "const passedOver = this.#resting.resting();",
    without: "const passedOver: string[] = [];",
    tests: [{ file: FORWARDING, title: "leaves the rows of a full lane" }],
    hangs: true,
  },
  {
    promise: "a Redis that refuses everybody is told of",
    file: `${SRC}/verdicts.ts`,
    guard: "if (forwarded.length === 0) outage ??= refusal;",
    without: "if (forwarded.length < 0) outage ??= refusal;",
    tests: [{ file: FORWARDING, title: "refuses every order" }],
  },
  {
    promise: "a database that lets nothing be deleted holds up no forwarding",
    file: `${SRC}/forwarder.ts`,
    guard: `    this.#prunesAtMs = nowMs + Math.min(keepMs, LONGEST_PRUNE_INTERVAL_MS);
    const isMore = await session.prune({ keepMs });`,
    without: `    const isMore = await session.prune({ keepMs });
    this.#prunesAtMs = nowMs + Math.min(keepMs, LONGEST_PRUNE_INTERVAL_MS);`,
    tests: [{ file: FORWARDING, title: "nothing may be deleted" }],
  },
  {
    promise: "a closed forwarder finishes what it has read",
    file: `${SRC}/forwarder.ts`,
    guard: "    this.#bell.ring();\n    await this.#running;",
    without: "    await this.#session?.close();\n    await this.#running;",
    tests: [{ file: FORWARDING, title: "finishes what it has read" }],
  },
  {
    promise: "rows that were forwarded lately are kept, and parked ones always",
    file: `${SRC}/outbox-session.ts`,
    guard:
      "where forwarded_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000) order by forwarded_at",
    without: "where $1::float8 > 0 and coalesce(forwarded_at, parked_at) is not null order by forwarded_at",
    tests: [{ file: FORWARDING, title: "long enough ago" }],
  },
  {
    promise: "a forwarder takes no Redis that may evict",
    file: "apps/forwarder/src/run-forwarder.ts",
    guard: "if (error instanceof EvictingRedisError) throw error;",
    without: "if (!(error instanceof Error)) throw error;",
    tests: [{ file: PROCESS, title: "refuses a Redis that may evict" }],
  },
  {
    promise: "an older version finds a newer outbox in order",
    file: `${SRC}/migrate.ts`,
    guard: "if (!isPending) return [];",
    without: "",
    tests: [
      {
        file: "test/upstream-outbox/enqueue.test.ts",
        title: "an older version that migrates after a newer one changes nothing",
      },
    ],
  },
  {
    promise: "how long the first row has waited is told",
    file: `${SRC}/outbox-session.ts`,
    guard:
      "select extract(epoch from clock_timestamp() - enqueued_at) from junban_upstream.events as waiting",
    without: "select 0 from junban_upstream.events as waiting",
    tests: [{ file: PROCESS, title: "tells how long the first has waited" }],
  },
  {
    promise: "how long each row waited is told when it was forwarded",
    file: "apps/forwarder/src/metrics.ts",
    guard: "    for (const { ageSeconds } of rows) this.#lag.observe(Math.max(0, ageSeconds));\n",
    without: "",
    tests: [{ file: PROCESS, title: "tells in its metrics what it did" }],
  },
];
