import type { RedisFacts } from "@junban/event-queues";
import { judge, type DoctorFacts, type FleetFacts } from "@junban/operations";
import type { StoreHealth, TableHealth } from "@junban/order-store";
import { describe, expect, test } from "vitest";

const NOW_MS = 1_800_000_000_000;
const clock = { askedAtMs: NOW_MS, serverMs: NOW_MS + 1, answeredAtMs: NOW_MS + 2 };
const settings = { leaseMs: 10_000, poolSize: 8, crashAlone: 3 };

const REDIS: RedisFacts = {
  version: "7.4.2",
  role: "master",
  usedBytes: 1_048_576,
  limitBytes: 1_073_741_824,
  evictingPolicy: null,
  appendOnly: true,
  appendFsync: "everysec",
  isWriteFailing: false,
  openAt: [],
  replicas: [{ address: "10.0.0.2:6379", state: "online", silentSeconds: 1, behindBytes: 14 }],
  clock,
};

const TABLE: TableHealth = {
  name: "orders",
  liveRows: 200_000,
  deadRows: 30_000,
  bytes: 90_000_000,
  isAutovacuumed: true,
  lastVacuumedAt: null,
};

const POSTGRES: StoreHealth = {
  versionNumber: 180_002,
  version: "18.2",
  isReplica: false,
  isReadOnly: false,
  fsync: "on",
  fullPageWrites: "on",
  synchronousCommit: "on",
  autovacuum: "on",
  statementTimeoutMs: 5_000,
  lockTimeoutMs: 2_000,
  idleTransactionTimeoutMs: 5_000,
  transactionTimeoutMs: 7_000,
  connectionLimit: 97,
  connections: 22,
  oldestTransactionMs: 20,
  transactionAge: 150_000_000,
  multixactAge: 100,
  freezeMaxAge: 200_000_000,
  tables: [TABLE],
  clock,
};

const GAUGES = {
  held: 7,
  heldDueSoon: 0,
  halted: 0,
  failed: 0,
  alerts: 0,
  overCaptures: 0,
  cancelledShipments: 0,
  outboxUnpublished: 3,
  outboxLagMs: 40,
  outboxParked: 0,
};

const LANE = {
  lcid: "A",
  depth: 4,
  holder: null,
  leaseLeftMs: 0,
  seats: 1,
  outcomes: 0,
  tries: 0,
  headKey: "k",
  consistent: true,
};

const FLEET: FleetFacts = {
  workers: 2,
  isUsed: true,
  prefix: "junban",
  queued: 40,
  untouched: 4,
  deadJobs: 0,
  paused: [],
  updates: {
    incoming: { waiting: 0, failed: 0, consumers: 1 },
    names: [{ name: "billing", waiting: 20_000, failed: 0, consumers: 1 }],
  },
  gauges: GAUGES,
  unknown: { events: 2, oldestMs: 20_000, types: ["order.split"] },
  overdue: 0,
  halfReleased: 0,
  losing: [{ ...LANE, tries: 2, holder: "t", leaseLeftMs: 900 }],
  standing: { count: 0, doOthersMove: true, longest: [] },
};

function facts({
  redis = {},
  postgres = {},
  fleet = {},
  pending = [],
}: {
  readonly redis?: Partial<RedisFacts>;
  readonly postgres?: Partial<StoreHealth>;
  readonly fleet?: Partial<FleetFacts>;
  readonly pending?: readonly string[];
}): DoctorFacts {
  return {
    settings,
    redis: { kind: "read", value: { ...REDIS, ...redis } },
    postgres: { kind: "read", value: { ...POSTGRES, ...postgres } },
    pendingMigrations: { kind: "read", value: pending },
    fleet: { kind: "read", value: { ...FLEET, ...fleet } },
  };
}

const verdicts = (given: DoctorFacts): string[] =>
  judge(given).map(({ code, severity }) => `${severity} ${code}`);

test("a sound fleet on sound servers has nothing to be told", () => {
  expect(judge(facts({}))).toEqual([]);
});

describe("of Redis", () => {
  test.each<[string, Partial<RedisFacts>, string]>([
    ["a version before 6.2", { version: "6.0.16" }, "wrong REDIS_TOO_OLD"],
    ["a replica", { role: "slave" }, "wrong REDIS_IS_REPLICA"],
    ["a policy that evicts", { evictingPolicy: "allkeys-lru" }, "wrong REDIS_MAY_EVICT"],
    ["no memory limit", { limitBytes: null }, "warning REDIS_WITHOUT_MEMORY_LIMIT"],
    ["little room", { usedBytes: 900_000_000 }, "warning REDIS_NEARLY_FULL"],
    ["hardly any room", { usedBytes: 1_000_000_000 }, "wrong REDIS_NEARLY_FULL"],
    ["no append-only file", { appendOnly: false }, "wrong REDIS_WITHOUT_FILE"],
    ["a file that is not forced out", { appendFsync: "no" }, "warning REDIS_FILE_NOT_FORCED"],
    ["a file that cannot be written", { isWriteFailing: true }, "wrong REDIS_CANNOT_WRITE_FILE"],
    ["an address without a password", { openAt: ["10.1.2.3"] }, "wrong REDIS_OPEN"],
    [
      "a replica that lags",
      { replicas: [{ address: "x", state: "online", silentSeconds: 1, behindBytes: 50_000_000 }] },
      "warning REDIS_REPLICA_BEHIND",
    ],
    [
      "a replica that does not follow",
      { replicas: [{ address: "x", state: "wait_bgsave", silentSeconds: 0, behindBytes: 0 }] },
      "warning REDIS_REPLICA_BEHIND",
    ],
  ])("%s is told", (_what, redis, told) => {
    expect(verdicts(facts({ redis }))).toEqual([told]);
  });

  test.each<[string, Partial<RedisFacts>]>([
    ["is a Valkey of the same age", { version: "8.1.0" }],
    ["forces each write out", { appendFsync: "always" }],
    ["does not tell how it forces writes out", { appendFsync: null }],
  ])("one that %s is not blamed", (_what, redis) => {
    expect(judge(facts({ redis }))).toEqual([]);
  });
});

describe("of Postgres", () => {
  test.each<[string, Partial<StoreHealth>, string]>([
    ["a replica", { isReplica: true, isReadOnly: true }, "wrong POSTGRES_IS_REPLICA"],
    ["a server that was set to read-only", { isReadOnly: true }, "wrong POSTGRES_READ_ONLY"],
    ["fsync off", { fsync: "off" }, "wrong POSTGRES_FSYNC_OFF"],
    ["full_page_writes off", { fullPageWrites: "off" }, "wrong POSTGRES_FULL_PAGE_WRITES_OFF"],
    ["synchronous_commit off", { synchronousCommit: "off" }, "wrong POSTGRES_COMMIT_NOT_FORCED"],
    [
      "a version before 17",
      { versionNumber: 160_004, version: "16.4" },
      "warning POSTGRES_WITHOUT_TRANSACTION_LIMIT",
    ],
    ["a statement limit that a pooler dropped", { statementTimeoutMs: 0 }, "wrong POSTGRES_LIMIT_MISSING"],
    ["a lock limit as long as the lease", { lockTimeoutMs: 10_000 }, "wrong POSTGRES_LIMIT_MISSING"],
    ["no limit on idle transactions", { idleTransactionTimeoutMs: 0 }, "wrong POSTGRES_LIMIT_MISSING"],
    ["connections used up", { connections: 90 }, "wrong POSTGRES_CONNECTIONS_USED_UP"],
    [
      "fewer connections than the workers may open",
      { connectionLimit: 21, connections: 5 },
      "warning POSTGRES_CONNECTIONS_TOO_FEW",
    ],
    ["autovacuum off", { autovacuum: "off" }, "wrong POSTGRES_AUTOVACUUM_OFF"],
    ["a transaction left open", { oldestTransactionMs: 900_000 }, "warning POSTGRES_OLD_TRANSACTION"],
    ["old rows", { transactionAge: 600_000_000 }, "warning POSTGRES_WRAPAROUND_NEAR"],
    ["very old rows", { transactionAge: 1_600_000_000 }, "wrong POSTGRES_WRAPAROUND_NEAR"],
    ["very old row locks", { multixactAge: 1_600_000_000 }, "wrong POSTGRES_WRAPAROUND_NEAR"],
    [
      "a table that is not vacuumed",
      { tables: [{ ...TABLE, isAutovacuumed: false }] },
      "warning POSTGRES_TABLE_NOT_VACUUMED",
    ],
    [
      "a table full of dead rows",
      { tables: [{ ...TABLE, deadRows: 150_000 }] },
      "warning POSTGRES_TABLE_BEHIND",
    ],
    [
      "a large table that is mostly empty",
      { tables: [{ ...TABLE, liveRows: 12, deadRows: 0, bytes: 5_000_000_000 }] },
      "warning POSTGRES_TABLE_BLOATED",
    ],
  ])("%s is told", (_what, postgres, told) => {
    expect(verdicts(facts({ postgres }))).toEqual([told]);
  });

  test("migrations that are pending are told by name", () => {
    const [finding] = judge(facts({ pending: ["0007_more"] }));
    expect(finding).toMatchObject({ severity: "wrong", says: "1 migration is pending: 0007_more" });
  });
});

describe("of clocks", () => {
  test.each([
    [3_000, "warning CLOCKS_APART", "the clock of Redis is 3 s ahead of this host's"],
    [-3_000, "warning CLOCKS_APART", "the clock of Redis is 3 s behind this host's"],
    [300_000, "wrong CLOCKS_APART", "the clock of Redis is 5 min ahead of this host's"],
  ])("one that is %i ms ahead is told", (ahead, told, says) => {
    const given = facts({ redis: { clock: { ...clock, serverMs: NOW_MS + ahead } } });
    expect(verdicts(given)).toEqual([told]);
    expect(judge(given)[0]?.says).toBe(says);
  });

  test("a difference that the way there and back explains is none", () => {
    const slow = { askedAtMs: NOW_MS, serverMs: NOW_MS + 4_000, answeredAtMs: NOW_MS + 4_500 };
    expect(judge(facts({ postgres: { clock: slow } }))).toEqual([]);
  });
});

describe("of the fleet", () => {
  const gauges = (over: Partial<typeof GAUGES>): Partial<FleetFacts> => ({ gauges: { ...GAUGES, ...over } });
  const unserved = (waiting: number): Partial<FleetFacts> => ({
    updates: { ...FLEET.updates, names: [{ name: "billing", waiting, failed: 0, consumers: 0 }] },
  });
  const standing = (headAgeMs: number): Partial<FleetFacts> => ({
    standing: { count: 5, doOthersMove: true, longest: [{ lcid: "A-1", depth: 2, headAgeMs }] },
  });
  test.each<[string, Partial<FleetFacts>, string]>([
    ["no worker while jobs wait", { workers: 0 }, "wrong NO_WORKERS"],
    ["no worker while nothing waits", { workers: 0, queued: 0 }, "warning NO_WORKERS"],
    ["a prefix that nobody ever used", { isUsed: false, workers: 0, queued: 0 }, "warning PREFIX_UNUSED"],
    ["a paused queue", { paused: ["payment"] }, "wrong QUEUES_PAUSED"],
    ["halted orders", gauges({ halted: 2, failed: 2 }), "wrong ORDERS_HALTED"],
    ["overdue held events", { overdue: 3 }, "warning UPKEEP_BEHIND"],
    ["a release that was interrupted", { halfReleased: 1 }, "warning UPKEEP_BEHIND"],
    ["held events near their deadline", gauges({ heldDueSoon: 1 }), "warning HELD_NEAR_DEADLINE"],
    ["alerts", gauges({ alerts: 1 }), "warning ALERTS_OPEN"],
    [
      "events of a type that nobody knows",
      { unknown: { events: 1, oldestMs: 600_000, types: ["order.place"] } },
      "warning EVENTS_UNSUPPORTED",
    ],
    ["jobs without an event", { deadJobs: 1 }, "warning DEAD_JOBS"],
    ["parked updates", gauges({ outboxParked: 1 }), "wrong UPDATES_PARKED"],
    ["an outbox that is slow", gauges({ outboxLagMs: 90_000 }), "warning OUTBOX_BEHIND"],
    ["an outbox that stands still", gauges({ outboxLagMs: 3_600_000 }), "wrong OUTBOX_BEHIND"],
    ["a name nobody serves", unserved(5), "warning SUBSCRIBER_GONE"],
    ["a name nobody serves, and much waits", unserved(10_000), "wrong SUBSCRIBER_GONE"],
    [
      "updates that nobody wants",
      { updates: { incoming: { waiting: 20_000, failed: 0, consumers: 0 }, names: [] } },
      "warning UPDATES_UNWANTED",
    ],
    ["a lane that lost two turns in a row", { losing: [{ ...LANE, tries: 2 }] }, "warning LANE_LOSES_TURNS"],
    [
      "a lane that loses one turn after another",
      { losing: [{ ...LANE, tries: 5 }] },
      "wrong LANE_LOSES_TURNS",
    ],
    ["a lane whose head does not move", standing(70_000), "warning LANES_STAND_STILL"],
    ["a lane whose head has not moved for long", standing(400_000), "wrong LANES_STAND_STILL"],
  ])("%s is told", (_what, fleet, told) => {
    expect(verdicts(facts({ fleet }))).toEqual([told]);
  });

  test("types that nobody knows are free text: few, short and escaped", () => {
    const types = ["order.place", "x\u001b[2J", "y".repeat(500), "d", "e", "f"];
    const [finding] = judge(facts({ fleet: { unknown: { events: 6_001, oldestMs: 7_200_000, types } } }));
    expect(finding?.says).toBe(
      `6,001 events are held since no worker knows their type or schema version, for up to 2 h: order.place, x\\u001b[2J, ${"y".repeat(60)}…, d, e, …`,
    );
  });

  test("an outbox that is behind because nobody wants its updates is told so", () => {
    const incoming = { waiting: 100_000, failed: 0, consumers: 0 };
    const unwanted = { updates: { incoming, names: [] }, ...gauges({ outboxLagMs: 3_600_000 }) };
    const found = judge(facts({ fleet: unwanted }));
    expect(found.map(({ code }) => code)).toEqual(["OUTBOX_BEHIND", "UPDATES_UNWANTED"]);
    expect(found[0]?.fix).toContain("UPDATES_UNWANTED");
  });

  test("lanes that do not move are told by name, and where to look", () => {
    const [finding] = judge(facts({ fleet: standing(400_000) }));
    expect(finding?.says).toBe("5 lanes do not move, one for 7 min: A-1, …");
    expect(finding?.fix).toContain("junban lane A-1");
    expect(finding?.means).toMatch(/others go on$/u);
  });

  test("others are said to go on only where they do", () => {
    const [lane] = standing(400_000).standing?.longest ?? [];
    const fleet = { standing: { count: 1, doOthersMove: false, longest: lane === undefined ? [] : [lane] } };
    expect(judge(facts({ fleet }))[0]?.means).toMatch(/these orders wait, and no other moves$/u);
  });

  test("a prefix that nobody ever used is named", () => {
    expect(judge(facts({ fleet: { isUsed: false } }))[0]?.says).toContain("under the prefix junban in");
  });

  test("lanes do not stand still while their jobs have not come round, or nobody is there at all", () => {
    expect(judge(facts({ fleet: { ...standing(400_000), queued: 6_000, untouched: 5_000 } }))).toEqual([]);
    expect(verdicts(facts({ fleet: { ...standing(400_000), workers: 0 } }))).toEqual(["wrong NO_WORKERS"]);
  });

  test("who is connected is not known where Redis does not tell, and is not guessed", () => {
    const names = [{ name: "billing", waiting: 5, failed: 0, consumers: null }];
    const fleet = { workers: null, updates: { ...FLEET.updates, names } };
    expect(judge(facts({ fleet }))).toEqual([]);
  });

  test("what is wrong comes before what only may become so", () => {
    const found = verdicts(facts({ redis: { limitBytes: null }, fleet: { paused: ["cancel"] } }));
    expect(found).toEqual(["wrong QUEUES_PAUSED", "warning REDIS_WITHOUT_MEMORY_LIMIT"]);
  });
});

describe("what cannot be asked", () => {
  const unreadable = { kind: "unreadable", why: "nobody there", isDenied: false, isFull: false } as const;

  test("a server that is away is told, and the other is judged all the same", () => {
    const given = { ...facts({ postgres: { fsync: "off" } }), redis: unreadable, fleet: unreadable };
    expect(verdicts(given)).toEqual(["wrong REDIS_AWAY", "wrong POSTGRES_FSYNC_OFF"]);
  });

  test("a server that lets nobody in is told apart from one that is away", () => {
    const denied = {
      kind: "unreadable",
      why: "WRONGPASS invalid pair",
      isDenied: true,
      isFull: false,
    } as const;
    const [finding] = judge({ ...facts({}), redis: denied, fleet: denied });
    expect(finding).toMatchObject({ code: "REDIS_DENIES", severity: "wrong" });
    expect(finding?.says).toContain("WRONGPASS");
  });

  test("a Postgres without a connection left is there, and is told so", () => {
    const full = { kind: "unreadable", why: "too many clients", isDenied: false, isFull: true } as const;
    const [finding] = judge({ ...facts({}), postgres: full, fleet: full });
    expect(finding).toMatchObject({ code: "POSTGRES_CONNECTIONS_USED_UP", severity: "wrong" });
    expect(finding?.says).toBe("Postgres refuses another connection: too many clients");
  });

  test("a fleet that cannot be read for want of tables is told by its migrations only", () => {
    const given = { ...facts({ pending: ["0001_orders"] }), fleet: unreadable };
    expect(verdicts(given)).toEqual(["wrong MIGRATIONS_PENDING"]);
  });

  test("a fleet that cannot be read although both servers answer is told with the reason", () => {
    const [finding] = judge({ ...facts({}), fleet: unreadable });
    expect(finding).toMatchObject({ code: "FLEET_UNREADABLE", severity: "wrong" });
    expect(finding?.says).toContain("nobody there");
  });
});
