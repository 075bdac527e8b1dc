/**
 * Invented order histories and what must come of them.
 *
 * For the demo, tests, faults and the bench: a seeded teller of realistic traffic (the same seed always tells the same
 * events), and a reference that says what every order must look like after a published stream. The reference is a second
 * reading of the domain's specification. It shares only types with @junban/orders, so that a mistake there cannot hide here.
 *
 * Not for production code, not a validator, and not fast: the reference asks all facts anew for every event.
 */
export type { Flaw, Note } from "./telling/draft.ts";
export { Random } from "./telling/random.ts";
export { type HotStoryOptions, hotStory } from "./telling/story.ts";
export { type PublishedEvent, type StoriesOptions, tellStories } from "./telling/stream.ts";
export { type PublisherSplit, type PublisherStep, splitStories } from "./telling/publishers.ts";
export { type TrafficOptions, trafficOf } from "./telling/traffic.ts";
export { writeStories } from "./ndjson.ts";
export type { LineFigures, OrderFigures } from "./reference/figures.ts";
export {
  type ReferenceOrder,
  type ReferenceOutcome,
  identityOf,
  referenceOf,
} from "./reference/reference.ts";
export {
  type ActualOrder,
  type ActualOutcome,
  compareOrder,
  compareOrders,
  compareOutcomes,
} from "./reference/compare.ts";
