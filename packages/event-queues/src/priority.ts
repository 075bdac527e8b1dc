const FEW_JOBS = 64;

/**
 * BullMQ priority of a job in front of which so many others of its lane are still to be fetched: 0 (served first) below 64, then
 * one level lower for every doubling. They are counted by the requests that stand in the lane and by the outcomes nobody came for: a
 * lane that is served in batches is far ahead of its jobs, and may be short while thousands of them are waiting.
 *
 * A flood on one order then queues behind everybody else's fresh work. Nothing is reordered by it: the lane alone says
 * what comes next, and whoever gets a turn of the flooded lane serves its events whatever their jobs' priority.
 */
export function priorityFor(jobsAhead: number): number {
  return jobsAhead < FEW_JOBS ? 0 : 1 + Math.floor(Math.log2(jobsAhead / FEW_JOBS));
}
