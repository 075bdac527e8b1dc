import type { Guard } from "./guard.ts";

/**
 * Updates for teams downstream: copies for every name, and the guard before each handler.
 *
 * Left out, since another guard stands behind it: the order's row is made before the transaction that locks it. Inside, it would only
 * make others wait.
 */

const SRC = "packages/order-updates/src";
const QUEUES = "packages/event-queues/src";
const JUDGE = "test/order-updates/judge.test.ts";
const POSTGRES = "test/order-updates/guard-in-postgres.test.ts";
const REDIS = "test/order-updates/guard-in-redis.test.ts";
const DESK = "test/order-updates/update-desk.test.ts";
const SESSION = "test/order-updates/session.test.ts";
const COPIES = "test/order-updates/copies.test.ts";
const OUTAGES = "test/order-updates/outages.test.ts";

export const ORDER_UPDATES_GUARDS: readonly Guard[] = [
  {
    promise: "a version that was handled is not handled again",
    file: `${SRC}/guard.ts`,
    guard: 'if (version < expected) return { kind: "skipped", last };',
    without: "",
    tests: [{ file: JUDGE, title: "a version that was handled, or passed over, is skipped" }],
  },
  {
    promise: "a version waits for those before it",
    file: `${SRC}/guard.ts`,
    guard: 'if ((waitedMs ?? 0) < gapWaitMs) return { kind: "waiting", missing: version - expected };',
    without: "",
    tests: [{ file: JUDGE, title: "a version ahead of the one that is due waits" }],
  },
  {
    promise: "a version that comes after a gap says so",
    file: `${SRC}/guard.ts`,
    guard: 'return { kind: "go", gap: { expected, got: version } };',
    without: 'return { kind: "go", gap: null };',
    tests: [{ file: JUDGE, title: "a version ahead of the one that is due waits" }],
  },
  {
    promise: "an order's row admits one handler of a name at a time",
    file: `${SRC}/guard-in-postgres.ts`,
    guard: " for no key update skip locked",
    without: "",
    tests: [{ file: POSTGRES, title: "while one consumer's handler is at an order" }],
  },
  {
    promise: "a version advances only in the transaction that its handler was lent",
    file: `${SRC}/guard-in-postgres.ts`,
    guard: "if (advanced.rowCount !== 1) throw new TransactionEndedError();",
    without: "",
    tests: [{ file: POSTGRES, title: "a handler that ends the transaction it was lent" }],
  },
  {
    promise: "a version that came and failed is no missing one",
    file: `${SRC}/guard-in-postgres.ts`,
    guard: "      await session.query(ARRIVE, key);\n",
    without: "",
    tests: [{ file: POSTGRES, title: "versions wait anew once the missing one has come" }],
  },
  {
    promise: "without a database, a version that came and failed is no missing one either",
    file: `${SRC}/guard-in-redis.ts`,
    guard: 'if (verdict.gap === null && since !== null) await this.#redis.zrem(key, "waiting");',
    without: "",
    tests: [{ file: REDIS, title: "versions wait anew once the missing one has come" }],
  },
  {
    promise: "without a database, a lane admits one handler of a name at a time",
    file: `${SRC}/guard-in-redis.ts`,
    guard: `if (entry.kind !== "turn") return { kind: "busy" };
      const { turn } = entry;`,
    without: `const turn =
        entry.kind === "turn"
          ? entry.turn
          : { signal: new AbortController().signal, leave: async () => undefined };`,
    tests: [{ file: REDIS, title: "while one consumer's handler is at an order" }],
  },
  {
    promise: "without a database, a holder that was overtaken turns no version back",
    file: `${SRC}/guard-in-redis.ts`,
    guard: 'this.#redis.zadd(key, "GT", version, "version")',
    without: 'this.#redis.zadd(key, version, "version")',
    tests: [{ file: REDIS, title: "a holder that lost its lease cannot turn the remembered version back" }],
  },
  {
    promise: "a transaction that was lent reaches nothing after its handler",
    file: `${SRC}/session.ts`,
    guard: "if (isOver) throw new TransactionEndedError();",
    without: "",
    tests: [{ file: POSTGRES, title: "a transaction that a handler keeps reaches nothing" }],
  },
  {
    promise: "a subscriber's database that does not answer ends the attempt in time",
    file: `${SRC}/session.ts`,
    guard: "return await Promise.race([asked, limit]);",
    without: "return await asked;",
    hangs: true,
    tests: [{ file: SESSION, title: "a statement that is never answered fails in time" }],
  },
  {
    promise: "nobody is given a connection that still owes an answer",
    file: `${SRC}/session.ts`,
    guard: "client.release(session.isBroken);",
    without: "client.release(false);",
    tests: [{ file: SESSION, title: "a statement that is never answered fails in time" }],
  },
  {
    promise: "work that failed leaves no transaction open on its connection",
    file: `${SRC}/session.ts`,
    guard: "    await session.rollBack();\n",
    without: "",
    tests: [{ file: SESSION, title: "work that fails is rolled back" }],
  },
  {
    promise: "a failing version is tried again before others stop waiting for it",
    file: `${SRC}/update-desk.ts`,
    guard: "Math.max(retryMs, Math.min(LONGEST_RETRY_MS, gapWaitMs / 3))",
    without: "LONGEST_RETRY_MS",
    tests: [{ file: DESK, title: "always sooner than others stop waiting for its version" }],
  },
  {
    promise: "one order's updates take one handler and one connection of a process",
    file: `${SRC}/update-desk.ts`,
    guard: "return this.#orders.run(update.lcid, async () => this.#attempt(update, stepsBack));",
    without: "return this.#attempt(update, stepsBack);",
    tests: [{ file: DESK, title: "one order's handlers run one at a time in a process" }],
  },
  {
    promise: "a guard that cannot be asked is told once an outage, not once an attempt",
    file: `${SRC}/update-desk.ts`,
    guard:
      "if (!(error instanceof HandlerFailedError || error instanceof TransactionEndedError)) throw error;",
    without: "if (!(error instanceof Error)) throw error;",
    tests: [{ file: DESK, title: "a guard that cannot be asked is not the handler's failure" }],
  },
  {
    promise: "updates that waited long are looked at soon once their order moves",
    file: `${SRC}/standing-orders.ts`,
    guard: "known !== undefined && known.due === due",
    without: "known !== undefined",
    tests: [{ file: DESK, title: "soon once its order moves, however long it has stood" }],
  },
  {
    promise: "a consumer that closes begins no further handler",
    file: `${SRC}/update-desk.ts`,
    guard: 'if (this.#options.stopping.aborted) return { kind: "delayed", delayMs: 0 };',
    without: "",
    tests: [{ file: DESK, title: "closing tells the handler under way, and puts back what has not begun" }],
  },
  {
    promise: "a job of the relay ends only when each name has its copy",
    file: `${QUEUES}/update-consumer.ts`,
    guard:
      '    await Promise.all([...names].map(async (name) => this.#queueOf(name).add("order-update", data)));',
    without:
      '    Promise.all([...names].map(async (name) => this.#queueOf(name).add("order-update", data))).catch(() => undefined);',
    tests: [{ file: COPIES, title: "a job of which one name got no copy is copied again" }],
  },
  {
    promise: "whoever copies forgets itself last",
    file: `${QUEUES}/update-consumer.ts`,
    guard: "new Set([this.#name, ...subscribed])",
    without: "new Set(subscribed)",
    tests: [{ file: COPIES, title: "a consumer whose name is gone from Redis" }],
  },
  {
    promise: "a Redis that forgot who was subscribed is told again",
    file: `${QUEUES}/update-consumer.ts`,
    guard: "    subscription.confirm().catch((error: unknown) => reports.add(error));\n",
    without: "",
    tests: [{ file: OUTAGES, title: "a server that forgot everything learns again who is subscribed" }],
  },
  {
    promise: "a job that holds no update is told when it is given up",
    file: `${QUEUES}/queue-worker.ts`,
    guard: 'if (end.kind === "unusable") {',
    without: "if (end === null) {",
    tests: [{ file: POSTGRES, title: "a job that names no order and version fails for good" }],
  },
];
