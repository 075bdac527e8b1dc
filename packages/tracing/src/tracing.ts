import type { IncomingJob, JobEnd, Publisher, UpdatesPublisher } from "@junban/event-queues";
import type { LaneBatch, LaneResult } from "@junban/order-store";

/** What a job is given to. */
export type ProcessJob = (job: IncomingJob) => Promise<JobEnd>;

/** What a group of lanes' batches is given to. */
export type Apply = (batches: readonly LaneBatch[]) => Promise<readonly LaneResult[]>;

/** What a subscriber's guard calls: the handler of `consumeOrderUpdates` fits. */
export type UpdateHandler<Update, Context> = (update: Update, context: Context) => Promise<void>;

/**
 * Makes spans around the ports through which an event passes. Whatever it wraps answers and throws as before. Events that name no
 * trace, which is so when their publisher is not traced, are part of none; only the transactions they share are seen.
 */
export interface Tracing {
  /** One span for each event from the call to its answer; an event in no trace gets this span as its `traceparent`. */
  publisher(publisher: Publisher): Publisher;
  /** One span for each time that an event's job is processed. */
  jobs(process: ProcessJob): ProcessJob;
  /** One span for each group, linked with its events; and in each event's trace its time in the lane and its application. */
  apply(apply: Apply): Apply;
  /** One span for each batch passed on, linked with its events; and one in each event's trace. */
  updates(updates: UpdatesPublisher): UpdatesPublisher;
  /** One span for each run of a subscriber's handler, which is active meanwhile. `name` is that of its consumer. */
  handler<Update extends { readonly payload: unknown }, Context>(
    options: { readonly name: string },
    handler: UpdateHandler<Update, Context>,
  ): UpdateHandler<Update, Context>;
  /** Sends what is left, within a second; a receiver that does not answer holds nobody up. Never rejects. */
  close(): Promise<void>;
}
