/**
 * Events in BullMQ: queue names, the publisher, the consumer and a reader for operators; and the queues of updates.
 *
 * For: putting an event into its lane and its queue as one acknowledged step, running a processor over the queues,
 * looking at what waits or died there, whether Redis keeps what it is given, and handing the relay's updates to every subscribed name. It is the only package that
 * touches BullMQ.
 *
 * Not for: deciding what an event means (orders), whose turn it is (handoff-lock), or what counts as done
 * (order-store). A job here carries an event; it never says in which order events are applied.
 */
export { FAMILY_QUEUES, QUEUE_PREFIX, queueNameOf } from "./names.ts";
export { priorityFor } from "./priority.ts";
export {
  EvictingRedisError,
  InvalidEventError,
  LaneFullError,
  QueueUnavailableError,
  UnusableUpdateError,
} from "./errors.ts";
export type { PublishError, QueueUnavailableCode } from "./errors.ts";
export type { RedisAddress } from "./connection.ts";
export { openRedisProbe, refuseEviction } from "./redis-fitness.ts";
export type { RedisFitness, RedisProbe, RedisProbeOptions } from "./redis-fitness.ts";
export { EvictionWatch } from "./eviction-watch.ts";
export { createPublisher } from "./publisher.ts";
export type { Publisher, PublisherOptions } from "./publisher.ts";
export type { Published, PublishResult } from "./publish-result.ts";
export { consume } from "./consumer.ts";
export type { ConsumeOptions, Consumer, ConsumerState } from "./consumer.ts";
export type { IncomingJob, JobEnd } from "./job.ts";
export { isSubscriberName, UPDATES_QUEUE } from "./update-names.ts";
export { createUpdatesPublisher } from "./updates-publisher.ts";
export type { OrderNews, UpdatesPublisher, UpdatesPublisherOptions } from "./updates-publisher.ts";
export { createQueueReader } from "./reader.ts";
export type { DeadJob, FamilyCounts, QueueReader, QueueReaderOptions } from "./reader.ts";
export { openAddresses } from "./redis-facts.ts";
export type { ClockReading, RedisFacts, ReplicaFacts } from "./redis-facts.ts";
export { readUpdateBacklog } from "./update-backlog.ts";
export type { UpdateBacklog, UpdateCountsOfQueue } from "./update-backlog.ts";
export { consumeUpdates, unsubscribeUpdates } from "./update-consumer.ts";
export type { ConsumeUpdatesOptions, UpdatesConsumer } from "./update-consumer.ts";
export type { QueuedUpdate } from "./queue-worker.ts";
export { openRawQueues } from "./raw-queues.ts";
export type { RawQueues } from "./raw-queues.ts";
