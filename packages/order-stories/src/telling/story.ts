import type { EventEnvelope } from "@junban/orders";
import { type Flaw, OrderDraft, type StoryItem } from "./draft.ts";
import { tellFlawed } from "./flaws.ts";
import { orderScenes, place } from "./order-scenes.ts";
import { paymentScenes } from "./payment-scenes.ts";
import { raceScenes } from "./race-scenes.ts";
import { Random } from "./random.ts";
import type { Scene } from "./scene.ts";
import { stockScenes } from "./stock-scenes.ts";

const scenes: readonly Scene[] = [...paymentScenes, ...stockScenes, ...orderScenes, ...raceScenes];

/** Where the clock of every story starts. Fixed, so that the same seed gives the same text. */
export const STORY_START_MS = Date.UTC(2026, 10, 29, 9, 0, 0);

export interface StoryOptions {
  readonly seed: number;
  readonly lcid: string;
  /** How many events to tell, flawed ones not counted. */
  readonly events: number;
  readonly startMs?: number;
  readonly gapMs?: number;
  readonly lasting?: boolean;
  /** Flaws to work in, each once, as soon as the story has offered what it takes. */
  readonly flaws?: readonly Flaw[];
  /** Replace a flaw that found no occasion by a float amount, which always does. */
  readonly insist?: boolean;
}

export interface Story {
  /** One order's events in the order in which they happened. */
  readonly items: readonly StoryItem[];
  /** Flaws for which this story offered no occasion. */
  readonly unplaced: readonly Flaw[];
}

export function tellStory(options: StoryOptions): Story {
  const { flaws = [] } = options;
  const teller = new Storyteller(options);
  let pending = flaws.map((flaw, index) => ({
    flaw,
    after: ((index + 1) * options.events) / (flaws.length + 1),
  }));
  while (teller.told < options.events) {
    teller.continue();
    pending = pending.filter(({ flaw, after }) => teller.told < after || !teller.mar(flaw));
  }
  const unplaced = pending.map(({ flaw }) => flaw);
  if (options.insist !== true) return { items: teller.items, unplaced };
  for (const flaw of unplaced) {
    if (!teller.mar(flaw)) teller.mar("float-amount");
  }
  return { items: teller.items, unplaced: [] };
}

/** Tells an order's story one scene at a time, for as long as it is asked to. */
export class Storyteller {
  readonly #draft: OrderDraft;
  #told = 0;

  constructor(options: Omit<StoryOptions, "events" | "flaws" | "insist">) {
    const { seed, lcid, startMs = STORY_START_MS, gapMs = 20_000, lasting = false } = options;
    this.#draft = new OrderDraft({ lcid, random: new Random(seed, "order", lcid), startMs, gapMs, lasting });
  }

  /** Events told so far, flawed ones not counted. */
  get told(): number {
    return this.#told;
  }

  get items(): readonly StoryItem[] {
    return this.#draft.items;
  }

  /** Tells exactly one more event. */
  continue(): void {
    if (this.#told === 0) place(this.#draft);
    else this.#playScene();
    this.#told += 1;
  }

  /** Works in a flawed event, if the story so far offers what it takes. */
  mar(flaw: Flaw): boolean {
    return tellFlawed(this.#draft, flaw);
  }

  #playScene(): void {
    const weights = scenes.map((scene) => scene.weight(this.#draft));
    const index = this.#draft.random.weighted(weights);
    // Authorizing always has some weight, so there is always a next scene.
    (scenes[index ?? 0] as Scene).play(this.#draft);
  }
}

export interface HotStoryOptions {
  readonly seed: number;
  readonly lcid: string;
  readonly events: number;
}

/** A long history of one order, in publish order: exactly `events` events, nearly all of which can be applied. */
export function hotStory({ seed, lcid, events }: HotStoryOptions): readonly EventEnvelope[] {
  return tellStory({ seed, lcid, events, gapMs: 50, lasting: true }).items.map((item) => item.event);
}
