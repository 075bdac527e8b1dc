/** What a bar or a line stands for: ourselves, a peer, one that did events harm, a ceiling, or what had not ended. */
export type Look = "own" | "peer" | "broken" | "ceiling" | "open";

export const MEANINGS: Readonly<Record<Look, string>> = {
  own: "Junban",
  peer: "another contender",
  broken: "events out of order, doubled or lost",
  ceiling: "a ceiling, no contender",
  open: "had not ended in time",
};
