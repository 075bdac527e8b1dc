/** What is set in the model from outside, as -DNAME=value; `true` is only defined. */
export type Definitions = Readonly<Record<string, string | number | true>>;

/** One question to the model: with these definitions, do the promises hold, and progress where it is asked for? */
export interface ModelQuestion {
  readonly name: string;
  readonly define: Definitions;
  /** Also every_request_is_settled, under weak fairness; costs about ten times as much. */
  readonly progress: boolean;
  /** Go on behind a counterexample until it is as short as can be. Only without `progress`. */
  readonly shortest: boolean;
  /** The search is long enough to be worth a compiler's optimising, which takes longer than a short search. */
  readonly long: boolean;
}

export function flagsOf({ define, progress }: Pick<ModelQuestion, "define" | "progress">): readonly string[] {
  const flags = Object.entries(define).map(([name, value]) =>
    value === true ? `-D${name}` : `-D${name}=${value}`,
  );
  return progress ? ["-DPROGRESS", ...flags] : flags;
}
