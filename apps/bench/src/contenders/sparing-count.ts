/** Counting may take a tenth of the time; an older count is at most this old. */
const SHARE = 10;
const LONGEST_MS = 250;

/**
 * A count for somebody who asks every few milliseconds, where counting costs the contender's own server more the more there
 * is to count: it answers with the last count while that is young for what it cost. Near the end counts are cheap and so exact.
 */
export function sparingly(count: () => Promise<number>): () => Promise<number> {
  let last = 0;
  let freshUntilMs = 0;
  return async () => {
    const startedMs = performance.now();
    if (startedMs < freshUntilMs && last > 0) return last;
    last = await count();
    const endedMs = performance.now();
    freshUntilMs = endedMs + Math.min((endedMs - startedMs) * SHARE, LONGEST_MS);
    return last;
  };
}
