/**
 * The outbox of a producer that owns a Postgres: events are committed together with the rows that make them true, and a
 * forwarder hands them to the publisher afterwards, in the commit order of each lcid.
 *
 * It holds SQL of its own because its tables live in the producer's database, which the fleet's store knows nothing of.
 *
 * Not for the fleet's database (order-store), not for Redis or queues (event-queues: whoever runs the forwarder lends it a
 * publisher), and not for deciding what an event does (orders).
 */
export { enqueueEvent } from "./enqueue.ts";
export type { Enqueued, KyselyTransaction, PgTransaction } from "./enqueue.ts";
export {
  OutboxConnectionError,
  NotInTransactionError,
  OutboxMigrationError,
  OutboxMissingError,
  TooManyFullLanesError,
  UnusableEventError,
} from "./errors.ts";
export { createForwarder } from "./forwarder.ts";
export type { Forwarder, ForwarderOptions, ForwarderState, ForwardObserver } from "./forwarder.ts";
export { migrateUpstream } from "./migrate.ts";
export type { Backlog } from "./outbox-session.ts";
export type { EventSink, ParkedRow, SinkResult } from "./verdicts.ts";
