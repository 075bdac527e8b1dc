/**
 * From the outbox to the queue of order updates: what was committed is told downstream, at least once, each order's versions
 * in their order.
 *
 * For: running the relay inside a worker or in a process of its own. However many run, one leads.
 * Not for: SQL (order-store reads and deletes the news), the queue itself (event-queues), or what downstream makes of it.
 */
export { openRelay, type OpenRelay, type OpenRelayOptions } from "./open-relay.ts";
export { createRelay, type Obstacle, type Relay, type RelayOptions } from "./relay.ts";
export type { RelayLogger, RelayObserver } from "./ports.ts";
