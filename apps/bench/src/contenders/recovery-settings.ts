/** What is set for a contender's process in one arm of a recovery test, beside what the contender sets anyway. */
export interface RecoveryArm {
  readonly env: Readonly<Record<string, string>>;
  /** What that means in the contender's own words, for the table. */
  readonly note: string;
  /** How long a holder that died can keep the key by these settings; null where nothing of it keeps others away. */
  readonly leaseMs: number | null;
}

/** How soon a contender notices that a holder is gone: as it comes, and as fast as its documentation lets it be. */
export interface RecoverySettings {
  readonly defaults: RecoveryArm;
  readonly best: RecoveryArm;
}

const BULLMQ_DEFAULTS = "BullMQ: lockDuration 30 s, stalledInterval 30 s, maxStalledCount 1, retries at once";
const BULLMQ_BEST =
  "BullMQ: lockDuration 2 s (renewed each second), stalledInterval 1 s, maxStalledCount 1,000";
const BULLMQ_DEFAULT_ENV = { BENCH_RETRY_BACKOFF_MS: "0" };
const BULLMQ_BEST_ENV = {
  BENCH_LOCK_DURATION_MS: "2000",
  BENCH_STALLED_INTERVAL_MS: "1000",
  BENCH_MAX_STALLED_COUNT: "1000",
  BENCH_RETRY_BACKOFF_MS: "0",
};

/** Whoever asks for work first finds the expired job, and puts it back without taking it out of the group's active list. */
const GROUPMQ_BLOCKED =
  "1.1.0 puts the job back, but not out of the way of its group (github.com/Openpanel-dev/groupmq/issues/14)";

/** By the contender's name. Read by the processes in processes/. */
export const RECOVERY_SETTINGS: Readonly<Record<string, RecoverySettings>> = {
  junban: {
    defaults: {
      env: {},
      note: "lease 10 s, renewed each third; a look each 0.25 s; jobs step back after 1 s",
      leaseMs: 10_000,
    },
    best: {
      env: {
        JUNBAN_LEASE_MS: "2000",
        JUNBAN_STATEMENT_TIMEOUT_MS: "1500",
        JUNBAN_LOCK_TIMEOUT_MS: "1000",
        JUNBAN_IDLE_TX_TIMEOUT_MS: "1500",
        JUNBAN_WAIT_MS: "100",
      },
      note: "lease 2 s, renewed each third, and the limits of Postgres below it; a look each 0.25 s; jobs step back after 0.1 s",
      leaseMs: 2_000,
    },
  },
  groupmq: {
    defaults: {
      env: {},
      note: `jobTimeoutMs 30 s, stalledInterval 30 s and maxStalledCount 1 (60 s and 2 above 50 jobs at once), stalledGracePeriod 5 s, backoff 0.5 s doubling to 30 s; ${GROUPMQ_BLOCKED}`,
      leaseMs: 30_000,
    },
    best: {
      env: {
        BENCH_JOB_TIMEOUT_MS: "20000",
        BENCH_STALLED_INTERVAL_MS: "1000",
        BENCH_STALLED_GRACE_MS: "0",
        BENCH_MAX_STALLED_COUNT: "1000",
        BENCH_RETRY_BACKOFF_MS: "0",
      },
      note: "jobTimeoutMs 20 s, stalledInterval 1 s (one check each 2 s gets through), stalledGracePeriod 0, maxStalledCount 1,000, retries at once; with a shorter timeout, fetching mostly finds the job before that check does, and its group stands still for good",
      leaseMs: 20_000,
    },
  },
  graphile: {
    defaults: {
      env: {},
      note: "a job of a process that died is locked for 4 hours, looked for each 8 to 10 minutes; a retry waits e^attempts seconds, and the queue goes on without it",
      leaseMs: 4 * 3_600_000,
    },
    best: {
      env: { BENCH_RESET_LOCKED_MS: "1000" },
      note: "looked for each second; the 4 hours are fixed in its SQL (unlocking a dead worker is an operator's act), and so is the retry's delay",
      leaseMs: 4 * 3_600_000,
    },
  },
  pgboss: {
    defaults: {
      env: {},
      note: "expireInSeconds 15 min, maintenanceIntervalSeconds 120, retryDelay 0",
      leaseMs: 15 * 60_000,
    },
    best: {
      env: { BENCH_EXPIRE_SECONDS: "2", BENCH_MAINTENANCE_SECONDS: "1" },
      note: "expireInSeconds 2 (there is no heartbeat: a job that takes longer runs twice), maintenanceIntervalSeconds 1, retryDelay 0",
      leaseMs: 2_000,
    },
  },
  redlock: {
    defaults: {
      env: BULLMQ_DEFAULT_ENV,
      note: `lock of 5 s, extended by itself; ${BULLMQ_DEFAULTS}`,
      leaseMs: 5_000,
    },
    best: {
      env: { ...BULLMQ_BEST_ENV, BENCH_KEY_LOCK_MS: "1000" },
      note: `lock of 1 s, extended by itself; ${BULLMQ_BEST}`,
      leaseMs: 1_000,
    },
  },
  "naive-lock": {
    defaults: { env: BULLMQ_DEFAULT_ENV, note: `SET NX PX 30 s; ${BULLMQ_DEFAULTS}`, leaseMs: 30_000 },
    best: {
      env: { ...BULLMQ_BEST_ENV, BENCH_KEY_LOCK_MS: "2000" },
      note: `SET NX PX 2 s (never extended: what takes longer is no longer alone); ${BULLMQ_BEST}`,
      leaseMs: 2_000,
    },
  },
  "pg-row-lock": {
    defaults: {
      env: BULLMQ_DEFAULT_ENV,
      note: `a row lock ends with its connection; ${BULLMQ_DEFAULTS}`,
      leaseMs: null,
    },
    best: {
      env: BULLMQ_BEST_ENV,
      note: `a row lock ends with its connection; ${BULLMQ_BEST}`,
      leaseMs: null,
    },
  },
};
