import type { EventEnvelope } from "@junban/orders";
import type { Flaw, Note, StoryItem } from "./draft.ts";
import { flawsInTurn } from "./flaws.ts";
import { Random } from "./random.ts";
import { STORY_START_MS, tellStory } from "./story.ts";

/** One event of a published stream. The stream's order is the publish order. */
export interface PublishedEvent {
  /** Position in the stream, from 0. */
  readonly index: number;
  readonly event: EventEnvelope;
  /** `first`: as it happened. `repeat`: sent before, under the same id. `early`: sent before something it builds on.
   * `invalid`: it must not be applied; `flaw` says why. */
  readonly note: Note;
  readonly flaw: Flaw | null;
  /** The position of the first sending; null unless the note is `repeat` or the body conflicts with an earlier one. */
  readonly repeatOf: number | null;
}

export interface StoriesOptions {
  /** A whole number. The same seed and options always tell the same stream. */
  readonly seed: number;
  /** Orders beside the hot one. */
  readonly orders: number;
  /** Mean events an order, repeats and flaws not counted. Default 10. */
  readonly eventsPerOrder?: number;
  /** Share of the stream that was sent before, 0…0.9. Default 0.1. */
  readonly repeatShare?: number;
  /** Share of the stream that is sent before something it builds on, 0…0.5. Default 0.05. */
  readonly earlyShare?: number;
  /** How many events must not be applied, spread over the orders (the hot one gets none). Default: one in 200 events. */
  readonly invalidCount?: number;
  /** One more order that receives a burst in the middle of the traffic. */
  readonly hotOrder?: { readonly events: number; readonly lcid?: string };
  /** Lcids are this and a number. Default `A-`. */
  readonly lcidPrefix?: string;
}

/** Mean time between the placements of two orders. */
const PLACEMENT_GAP_MS = 1_000;
/** Mean time between two events of one order: some twenty orders' worth of traffic in between. */
const EVENT_GAP_MS = 20_000;
const REPEAT_DELAY_MS = 30_000;

interface Sending {
  readonly item: StoryItem;
  readonly note: Note;
  readonly atMs: number;
  readonly repeats: Sending | null;
}

/** Live-looking traffic of many orders, with repeats, early events and events that must not be applied. */
export function tellStories(options: StoriesOptions): readonly PublishedEvent[] {
  const { seed, repeatShare = 0.1, earlyShare = 0.05 } = options;
  const stories = storiesOf(options);
  const told = stories.reduce((sum, story) => sum + story.length, 0);
  const streamLength = told / (1 - repeatShare);
  const sendings = sendEarly(stories, {
    random: new Random(seed, "early"),
    count: Math.round(streamLength * earlyShare),
  });
  const repeats = repeat(sendings, {
    random: new Random(seed, "repeat"),
    count: Math.round(streamLength * repeatShare),
  });
  return number(byTime([...sendings, ...repeats]));
}

function storiesOf(options: StoriesOptions): StoryItem[][] {
  const { seed, orders, eventsPerOrder = 10, hotOrder, lcidPrefix = "A-" } = options;
  const { invalidCount = Math.ceil((orders * eventsPerOrder) / 200) } = options;
  const random = new Random(seed, "traffic");
  const flaws = new FlawSupply(orders > 0 ? invalidCount : 0);
  const stories: StoryItem[][] = [];
  for (let order = 0; order < orders; order += 1) {
    const story = tellStory({
      seed,
      lcid: `${lcidPrefix}${1001 + order}`,
      events: Math.max(1, Math.round(eventsPerOrder * (0.5 + random.fraction()))),
      startMs: STORY_START_MS + random.fraction() * orders * PLACEMENT_GAP_MS,
      gapMs: EVENT_GAP_MS,
      flaws: flaws.take((order + 1) / orders),
      insist: order === orders - 1,
    });
    flaws.giveBack(story.unplaced);
    stories.push([...story.items]);
  }
  if (hotOrder !== undefined) {
    const spanMs = orders * PLACEMENT_GAP_MS + eventsPerOrder * EVENT_GAP_MS;
    const story = tellStory({
      seed,
      lcid: hotOrder.lcid ?? `${lcidPrefix}HOT`,
      events: hotOrder.events,
      startMs: STORY_START_MS + spanMs * 0.25,
      gapMs: (spanMs * 0.4) / hotOrder.events,
      lasting: true,
    });
    stories.push([...story.items]);
  }
  return stories;
}

/** Flaws in turn, handed out evenly along the orders; those that found no occasion go to the next order. */
class FlawSupply {
  readonly #left: Flaw[];
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
    this.#left = [...flawsInTurn(count)];
  }

  /** As many as are due once this share of the orders is told. */
  take(share: number): readonly Flaw[] {
    const due = Math.round(this.#count * share) - (this.#count - this.#left.length);
    return this.#left.splice(0, Math.max(0, due));
  }

  giveBack(flaws: readonly Flaw[]): void {
    this.#left.unshift(...flaws);
  }
}

/** Moves `count` events ahead of the latest event they build on. An order's sending times stay; who is sent when changes. */
function sendEarly(
  stories: readonly StoryItem[][],
  { random, count }: { random: Random; count: number },
): Sending[] {
  const movable = stories.flatMap((story) =>
    story.filter((item) => item.note === "first" && item.needs.length > 0),
  );
  const chosen = new Set(random.sample(movable.length, count).map((index) => movable[index] as StoryItem));
  return stories.flatMap((story) => {
    const order = [...story];
    for (const item of story) {
      if (chosen.has(item)) moveAhead(order, item);
    }
    return order.map((item, index) => ({
      item,
      note: chosen.has(item) ? "early" : item.note,
      atMs: (story[index] as StoryItem).atMs,
      repeats: null,
    }));
  });
}

function moveAhead(order: StoryItem[], item: StoryItem): void {
  const from = order.indexOf(item);
  const to = Math.max(...item.needs.map((need) => order.indexOf(need)));
  // Something it builds on may itself have been moved behind it already; then it is early as it is.
  if (to > from) return;
  order.splice(from, 1);
  order.splice(to, 0, item);
}

function repeat(
  sendings: readonly Sending[],
  { random, count }: { random: Random; count: number },
): Sending[] {
  const repeatable = sendings.filter((sending) => sending.item.flaw !== "conflicting-body");
  if (repeatable.length === 0) return [];
  return Array.from({ length: count }, () => {
    const first = random.pick(repeatable);
    return {
      item: first.item,
      note: "repeat",
      atMs: first.atMs + random.exponential(REPEAT_DELAY_MS),
      repeats: first,
    };
  });
}

/** Sorting is stable, and within one order times never decrease, so each order keeps its own order. */
function byTime(sendings: readonly Sending[]): Sending[] {
  return sendings.toSorted((left, right) => left.atMs - right.atMs);
}

function number(sendings: readonly Sending[]): PublishedEvent[] {
  const firsts = new Map<StoryItem, number>();
  return sendings.map(({ item, note }, index) => {
    const conflictsWith = item.flaw === "conflicting-body" ? item.needs[0] : undefined;
    const repeatOf = note === "repeat" ? firsts.get(item) : conflictsWith && firsts.get(conflictsWith);
    if (note !== "repeat") firsts.set(item, index);
    return { index, event: item.event, note, flaw: item.flaw, repeatOf: repeatOf ?? null };
  });
}
