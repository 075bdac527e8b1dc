/**
 * Throwaway servers for the demo, the tests, the bench and the fault runs: real Postgres and Redis, TCP proxies that cut and
 * delay, and process trees that end whole. Everything started here is tidied up when its owner ends, even by SIGKILL.
 * It is not for production, never reads DATABASE_URL or REDIS_URL, and knows nothing of orders, queues or lanes.
 */
export {
  DeadlineError,
  NoUnprivilegedUserError,
  NotRunningError,
  PostgresMissingError,
  ProcessEndedError,
  ProgramMissingError,
  RedisMissingError,
  ServerStartError,
  SpawnError,
  isMissingServer,
} from "./errors.ts";
export { startPostgres, type PostgresOptions, type PostgresServer } from "./postgres.ts";
export { postgresFigures, type PostgresFigures } from "./postgres-figures.ts";
export {
  forgetStatementTimes,
  statementTimes,
  STATEMENT_TIMES,
  type StatementTime,
} from "./statement-times.ts";
export { vacuumDatabase } from "./vacuum-database.ts";
export { createGuestDatabase, type GuestDatabase } from "./guest-database.ts";
export { findProgram, type Program, type ProgramSearch } from "./programs.ts";
export { findRedisBinary, type RedisBinary, type RedisSearch } from "./redis-binary.ts";
export { startRedis, type RedisOptions, type RedisServer } from "./redis.ts";
export { startProcess, type ProcessExit, type ProcessOptions, type ProcessTree } from "./process-tree.ts";
export type { LineMatcher } from "./line-log.ts";
export { stillRunning, treeMembers, type ProcessRow } from "./process-table.ts";
export { startProxy, type ProxyOptions, type TcpProxy } from "./proxy.ts";
export type { ChunkHook, ProxyDirection, ProxyVerdict } from "./proxy-connection.ts";
export { startSandbox, type Sandbox } from "./sandbox.ts";
