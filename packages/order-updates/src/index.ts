/**
 * What happened to orders, for teams downstream of the fleet.
 *
 * For: calling a handler with each order's committed versions, rising, none twice under one name; exactly-once effects in
 * the subscriber's own Postgres, effects at least once without; gaps that are told.
 * Not for: publishing updates (the relay does), deciding anything about orders, or reading them (`@junban/order-store`).
 */
export { consumeOrderUpdates, forgetOrderUpdates, readOrderUpdatesBacklog } from "./consume-order-updates.ts";
export { createGuardTable, GUARD_TABLE_SQL } from "./guard-table.ts";
export { readAtLeast } from "./read-at-least.ts";
export {
  GuardTableMissingError,
  GuardUnavailableError,
  HandlerFailedError,
  InvalidOptionError,
  OrderUpdatesError,
  StaleReadError,
  TransactionEndedError,
} from "./errors.ts";
export type { OrderUpdatesErrorCode } from "./errors.ts";
export type {
  ConsumeOrderUpdatesOptions,
  Database,
  DatabaseClient,
  Gap,
  HandlerContext,
  OrderUpdate,
  OrderUpdatesConsumer,
  SkippedUpdate,
  Transaction,
  TransactionContext,
  UpdateCounts,
} from "./contract.ts";
