import type { StoreHealth, TableHealth } from "@junban/order-store";
import type { FleetSettings } from "./facts.ts";
import { counted, lasting, sized, type Finding } from "./finding.ts";

/** Has a limit on whole transactions, which ends one whose client froze in the middle of sending a statement. */
const LIMITS_TRANSACTIONS = 170_000;
/** What a worker opens besides its pool: two connections for upkeep and one for the relay. */
const CONNECTIONS_BESIDE_POOL = 3;
const NEARLY_ALL_CONNECTIONS = 0.9;
const OLD_TRANSACTION_MS = 5 * 60_000;
/** All writing stops at about 2,100 million. */
const AGE_WRONG = 1_500_000_000;
const AGE_WARNING = 500_000_000;
const MANY_DEAD_ROWS = 50_000;
const LARGE_TABLE_BYTES = 1_073_741_824;
const BYTES_A_ROW = 100_000;

const MORE_CONNECTIONS =
  "raise max_connections, or the limit of the role or database; lower JUNBAN_PG_POOL; or pool by session";

type Judgement = Omit<Finding, "about">;

/** What the state of Postgres means for the fleet. */
export function judgePostgres(
  health: StoreHealth,
  { settings, workers }: { readonly settings: FleetSettings; readonly workers: number | null },
): Finding[] {
  return [
    ...judgeWriting(health),
    ...judgeDurability(health),
    ...judgeVersion(health),
    ...judgeLimits(health, settings),
    ...judgeConnections(health, { settings, workers }),
    ...judgeVacuum(health),
    ...health.tables.flatMap(judgeTable),
  ].map((judgement) => ({ about: "postgres", ...judgement }));
}

/** @param pending names of migrations that are not applied yet */
export function judgeMigrations(pending: readonly string[]): Finding[] {
  if (pending.length === 0) return [];
  return [
    {
      code: "MIGRATIONS_PENDING",
      about: "postgres",
      severity: "wrong",
      says: `${counted(pending.length, "migration is", "migrations are")} pending: ${pending.join(", ")}`,
      means: "workers of this version refuse to start",
      fix: "junban migrate",
    },
  ];
}

function judgeWriting({ isReplica, isReadOnly }: StoreHealth): Judgement[] {
  if (!isReplica && !isReadOnly) return [];
  const means = "it takes no writes: no event can be decided";
  if (isReplica) {
    return [
      {
        code: "POSTGRES_IS_REPLICA",
        severity: "wrong",
        says: "DATABASE_URL leads to a replica",
        means,
        fix: "let DATABASE_URL name the primary",
      },
    ];
  }
  return [
    {
      code: "POSTGRES_READ_ONLY",
      severity: "wrong",
      says: "Postgres is set to read-only (default_transaction_read_only)",
      means,
      fix: "somebody set it, for the server, the database or the role; hosts do when a disk is nearly full: make room, then set it off",
    },
  ];
}

function judgeDurability({ fsync, fullPageWrites, synchronousCommit }: StoreHealth): Judgement[] {
  const found: Judgement[] = [];
  for (const [name, value] of [
    ["fsync", fsync],
    ["full_page_writes", fullPageWrites],
  ] as const) {
    if (value !== "off") continue;
    found.push({
      code: `POSTGRES_${name.toUpperCase()}_OFF`,
      severity: "wrong",
      says: `${name} is off`,
      means: "when the machine dies the whole database may be damaged beyond repair",
      fix: `set ${name} = on`,
    });
  }
  if (synchronousCommit === "off") {
    found.push({
      code: "POSTGRES_COMMIT_NOT_FORCED",
      severity: "wrong",
      says: "synchronous_commit is off",
      means:
        "an event leaves its line when its commit was answered: those answered just before the server dies are lost, in Postgres and in Redis",
      fix: "set synchronous_commit = on for the fleet's role and database",
    });
  }
  return found;
}

function judgeVersion({ version, versionNumber }: StoreHealth): Judgement[] {
  if (versionNumber >= LIMITS_TRANSACTIONS) return [];
  return [
    {
      code: "POSTGRES_WITHOUT_TRANSACTION_LIMIT",
      severity: "warning",
      says: `Postgres is version ${version}`,
      means:
        "before 17 a worker that freezes in the middle of sending a statement can keep its order's row until its connection ends",
      fix: "run Postgres 17 or later",
    },
  ];
}

function judgeLimits(health: StoreHealth, { leaseMs }: FleetSettings): Judgement[] {
  const limits = [
    ["statement_timeout", health.statementTimeoutMs],
    ["lock_timeout", health.lockTimeoutMs],
    ["idle_in_transaction_session_timeout", health.idleTransactionTimeoutMs],
  ] as const;
  return limits
    .filter(([, limitMs]) => limitMs === null || limitMs === 0 || limitMs >= leaseMs)
    .map(([name, limitMs]) => ({
      code: "POSTGRES_LIMIT_MISSING",
      severity: "wrong",
      says: `in a session of the fleet ${name} is ${limitMs === null || limitMs === 0 ? "off" : `${limitMs} ms, and the lease ${leaseMs} ms`}`,
      means:
        "a worker that freezes would keep its order's row locked longer than its lease, and the order with it",
      fix: "let whatever stands between (a pooler) pass on the limits that a session asks for, or pool by session",
    }));
}

export function connectionsUsedUp(says: string): Finding {
  return {
    code: "POSTGRES_CONNECTIONS_USED_UP",
    about: "postgres",
    severity: "wrong",
    says,
    means: "whoever comes next is refused: a worker waits and tries again, and its orders wait with it",
    fix: MORE_CONNECTIONS,
  };
}

function judgeConnections(
  { connections, connectionLimit }: StoreHealth,
  { settings, workers }: { readonly settings: FleetSettings; readonly workers: number | null },
): Judgement[] {
  if (connections >= connectionLimit * NEARLY_ALL_CONNECTIONS) {
    const open = counted(connections, "connection is", "connections are");
    return [connectionsUsedUp(`${open} open of ${connectionLimit}`)];
  }
  const each = settings.poolSize + CONNECTIONS_BESIDE_POOL;
  if (workers === null || workers * each <= connectionLimit) return [];
  return [
    {
      code: "POSTGRES_CONNECTIONS_TOO_FEW",
      severity: "warning",
      says: `${counted(workers, "worker")} may open ${each} connections each, and Postgres allows ${connectionLimit} together`,
      means: "under load some are refused",
      fix: MORE_CONNECTIONS,
    },
  ];
}

function judgeVacuum(health: StoreHealth): Judgement[] {
  const found: Judgement[] = [];
  if (health.autovacuum === "off") {
    found.push({
      code: "POSTGRES_AUTOVACUUM_OFF",
      severity: "wrong",
      says: "autovacuum is off",
      means: "tables grow for ever, and each look at the outbox walks over all that left it",
      fix: "set autovacuum = on",
    });
  }
  if (health.oldestTransactionMs >= OLD_TRANSACTION_MS) {
    found.push({
      code: "POSTGRES_OLD_TRANSACTION",
      severity: "warning",
      says: `a transaction has been open for ${lasting(health.oldestTransactionMs)}`,
      means: "nothing that changed since can be cleared away; the outbox and the orders get slower meanwhile",
      fix: "find it by xact_start in pg_stat_activity, and end it",
    });
  }
  for (const [what, age] of [
    ["transactions", health.transactionAge],
    ["multixacts", health.multixactAge],
  ] as const) {
    if (age < Math.max(AGE_WARNING, 2 * health.freezeMaxAge) && age < AGE_WRONG) continue;
    found.push({
      code: "POSTGRES_WRAPAROUND_NEAR",
      severity: age >= AGE_WRONG ? "wrong" : "warning",
      says: `the oldest row is ${Math.round(age / 1_000_000)} million ${what} old`,
      means: "at about 2,100 million Postgres takes no more writes",
      fix: "vacuum (freeze) the database; look for old transactions, prepared ones and replication slots that hold it back",
    });
  }
  return found;
}

function judgeTable({ name, liveRows, deadRows, bytes, isAutovacuumed }: TableHealth): Judgement[] {
  const found: Judgement[] = [];
  if (!isAutovacuumed) {
    found.push({
      code: "POSTGRES_TABLE_NOT_VACUUMED",
      severity: "warning",
      says: `autovacuum is switched off for ${name}`,
      means: "what its changes leave behind is never cleared away",
      fix: `reset autovacuum_enabled for the table ${name}`,
    });
  }
  if (deadRows >= MANY_DEAD_ROWS && deadRows * 2 > liveRows) {
    found.push({
      code: "POSTGRES_TABLE_BEHIND",
      severity: "warning",
      says: `${name} holds ${counted(deadRows, "dead row")} beside ${counted(liveRows, "live one")}`,
      means: "vacuum does not keep up, and reads walk over what is dead",
      fix: `vacuum ${name}, and look for old transactions; a lower autovacuum_vacuum_cost_delay lets it work faster`,
    });
  } else if (bytes >= LARGE_TABLE_BYTES && bytes > liveRows * BYTES_A_ROW) {
    found.push({
      code: "POSTGRES_TABLE_BLOATED",
      severity: "warning",
      says: `${name} takes ${sized(bytes)} for ${counted(liveRows, "row")}`,
      means: "it is mostly empty: what it once held left room that is not given back",
      fix: `in a quiet hour, vacuum full ${name} (it locks the table), or pg_repack`,
    });
  }
  return found;
}
