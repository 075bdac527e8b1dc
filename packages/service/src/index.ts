/**
 * What every process of the fleet needs whatever it does: checked configuration, a logger that keeps secrets, health and
 * metrics over HTTP, waiting for services at the start, and an end that is bounded.
 * It knows nothing of orders, queues, lanes or tables, and imports no other package of this house.
 */
export { readConfig, type Config, type ConfigOptions, type Need } from "./config.ts";
export {
  ConfigError,
  EXIT,
  HttpListenError,
  UnreachableError,
  exitCodeOf,
  type ConfigProblem,
} from "./errors.ts";
export type { TraceSettings } from "./trace-variables.ts";
export { errorLine } from "./redaction.ts";
export { withoutPassword } from "./secrets.ts";
export { createLogger, type CreateLoggerOptions, type Logger } from "./logger.ts";
export {
  runProcess,
  type ProcessSettings,
  type ProcessTools,
  type RunProcessOptions,
} from "./run-process.ts";
export { reachWithin, type ReachOptions } from "./reach.ts";
export { startHttpServer, type HealthServer, type HttpServerOptions } from "./http-server.ts";
export {
  createShutdown,
  type Shutdown,
  type ShutdownHost,
  type ShutdownOptions,
  type ShutdownStep,
} from "./shutdown.ts";
export { createProcessMetrics, type ProcessMetrics, type ShownReadiness } from "./metrics.ts";
