import type { EventEnvelope } from "@junban/orders";
import { Random } from "./random.ts";
import type { PublishedEvent } from "./stream.ts";

/** One step of one publisher. Steps are taken in order. */
export interface PublisherStep extends PublishedEvent {
  /**
   * The stream position whose acknowledgement must be seen before this step starts; null when this publisher's own
   * order suffices. Set on repeats that another publisher than the first one sends.
   */
  readonly waitFor: number | null;
}

export interface PublisherSplit {
  readonly publishers: number;
  /** Share of the repeats that another publisher sends, 0…1. Default 0.5. */
  readonly elsewhereShare?: number;
  readonly seed: number;
}

/**
 * Splits a stream among publishers. Everything of one lcid but its repeats belongs to one publisher, in stream order,
 * so the publish order of each lcid stays defined although publishers run side by side. Every wait points backwards
 * in the stream, so publishers cannot wait for each other in a circle.
 */
export function splitStories(
  stream: readonly PublishedEvent[],
  split: PublisherSplit,
): readonly (readonly PublisherStep[])[] {
  const { publishers, elsewhereShare = 0.5, seed } = split;
  if (!Number.isInteger(publishers) || publishers < 1) {
    throw new RangeError("There must be at least one publisher");
  }
  const random = new Random(seed, "publishers");
  const homes = new Map<string, number>();
  const steps: PublisherStep[][] = Array.from({ length: publishers }, () => []);
  for (const published of stream) {
    const home = homeOf(homes, published.event, { random, publishers });
    const elsewhere = published.note === "repeat" && publishers > 1 && random.chance(elsewhereShare);
    const publisher = elsewhere ? (home + random.whole(1, publishers - 1)) % publishers : home;
    const waitFor = elsewhere ? published.repeatOf : null;
    (steps[publisher] as PublisherStep[]).push({ ...published, waitFor });
  }
  return steps;
}

function homeOf(
  homes: Map<string, number>,
  { lcid }: EventEnvelope,
  { random, publishers }: { random: Random; publishers: number },
): number {
  const known = homes.get(lcid);
  if (known !== undefined) return known;
  const home = random.whole(0, publishers - 1);
  homes.set(lcid, home);
  return home;
}
