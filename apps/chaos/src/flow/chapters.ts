import { type PublisherStep, splitStories, tellStories } from "@junban/order-stories";

/** One step of one publisher in an endless stream. */
export interface FlowStep extends PublisherStep {
  /** Names this sending in the whole stream. */
  readonly position: string;
  /** The sending whose acknowledgement has to be seen before this one starts; null when the publisher's own order suffices. */
  readonly after: string | null;
}

const ORDERS_A_CHAPTER = 40;
const HOT_EVENTS_A_CHAPTER = 160;

/**
 * An endless stream for several publishers, told chapter by chapter from one seed: ordinary orders and one hot order each,
 * with repeats, early events and events that must not be applied among them.
 */
export function* chaptersOf(options: {
  readonly seed: number;
  readonly publishers: number;
}): Generator<readonly (readonly FlowStep[])[], never> {
  const { seed, publishers } = options;
  for (let chapter = 0; ; chapter += 1) {
    const lcidPrefix = `C${chapter}-`;
    const stream = tellStories({
      seed: seed + chapter,
      orders: ORDERS_A_CHAPTER,
      hotOrder: { events: HOT_EVENTS_A_CHAPTER },
      lcidPrefix,
    });
    const positionOf = (index: number): string => `${chapter}/${index}`;
    yield splitStories(stream, { publishers, seed: seed + chapter }).map((steps) =>
      steps.map((step) => ({
        ...step,
        position: positionOf(step.index),
        after: step.waitFor === null ? null : positionOf(step.waitFor),
      })),
    );
  }
}
