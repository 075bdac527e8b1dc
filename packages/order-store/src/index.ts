/**
 * Orders in Postgres: the only SQL of the fleet.
 *
 * For: applying batches of events to orders in one transaction, exactly once and in the order given; answering repeats from
 * the inbox; held events, poison, deferral expiry, replay, audit, purge, reports and the schema's migrations.
 * Not for: deciding who may try (the lanes do), what an event means (`@junban/orders` does), or where the news of the outbox go
 * (who leads the outbox reads them here and passes them on).
 */
export { createOrderStore, type OrderStore, type OrderStoreOptions } from "./order-store.ts";
export { PUT_BACK_AT_ONCE } from "./parking.ts";
export { openOutbox, type News, type Outbox, type OutboxLead, type OutboxOptions } from "./outbox.ts";
export {
  migrate,
  migrationStatus,
  refuseOldSchema,
  type MigrationReport,
  type MigrationStatus,
} from "./migrate.ts";
export {
  classify as classifyTrouble,
  CommitUnknownError,
  ConnectionLostError,
  describe as describeTrouble,
  DeadlinePassedError,
  EventNotFoundError,
  LeadLostError,
  MigrationError,
  NoAlertError,
  NotCommittedError,
  OrderBusyError,
  OrderStoreError,
  PoolBusyError,
  PurgedMeanwhileError,
  ReleaseInterruptedError,
  SchemaBehindError,
  TripTimeoutError,
  type TroubleClass,
  WrongOutcomeError,
} from "./errors.ts";
export type { StoreHealth, TableHealth } from "./health.ts";
export type {
  ActionEnd,
  ActionReport,
  AuditDifference,
  AuditFinding,
  CommitFacts,
  DeadLetter,
  EventReport,
  HaltedOrder,
  HeldReport,
  LaneBatch,
  LaneResult,
  LaneTrouble,
  MaintenanceLocator,
  NewAction,
  OperatorResult,
  OrderReport,
  Outcome,
  ParkedNews,
  PurgedOrder,
  PutBackResult,
  Settled,
  StandingEvent,
  StoreGauges,
  StorePulse,
  StoreSummary,
  UnknownEvents,
} from "./types.ts";
