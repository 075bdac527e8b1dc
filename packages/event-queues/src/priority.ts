const SHALLOW_DEPTH = 64;

/**
 * BullMQ priority of a job whose lane is `depth` requests deep: 0 (served first) below 64, then one level lower for
 * every doubling of the depth.
 *
 * A flood on one order then queues behind everybody else's fresh work. Nothing is reordered by it: the lane alone says
 * what comes next, and whoever gets a turn of the flooded lane serves its events whatever their jobs' priority.
 */
export function priorityFor(depth: number): number {
  return depth < SHALLOW_DEPTH ? 0 : 1 + Math.floor(Math.log2(depth / SHALLOW_DEPTH));
}
