import { requestOf, type EventEnvelope } from "@junban/orders";

/** What a peer's job carries: one event, ready for the store, so that a peer's process has neither to parse nor to digest it. */
export interface EventJob {
  readonly lcid: string;
  readonly key: string;
  readonly body: string;
  readonly publishedAtMs: number;
}

/** Jobs for events that are published now. */
export function eventJobsOf(events: readonly EventEnvelope[]): readonly EventJob[] {
  const publishedAtMs = Date.now();
  return events.map((event) => {
    const { lcid, key, body } = requestOf(event);
    return { lcid, key, body, publishedAtMs };
  });
}

/** Slices of the events in their order. */
export function* chunksOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
