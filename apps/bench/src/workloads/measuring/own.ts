import type { Contender } from "../../contenders/contender.ts";
import type { Run } from "../../results.ts";
import type { Stage } from "../workload.ts";

/** Junban, whom the workloads about its own behaviour measure alone. */
export function ownOf({ contenders }: Pick<Stage, "contenders">): Contender {
  const [own] = contenders;
  if (own === undefined) throw new RangeError("a stage has Junban as its first contender");
  return own;
}

/** Contenders with a queue in front; the loop over plain SQL has none, so nothing is learnt from putting events in. */
export function queuesOf({ contenders }: Pick<Stage, "contenders">): readonly Contender[] {
  return contenders.filter(({ name }) => name !== "sql-ceiling");
}

export function runOf<Row>(
  workload: string,
  { events, seed, rounds, machine }: Stage,
  { results, ratios }: Pick<Run<Row>, "results" | "ratios">,
): Run<Row> {
  return { workload, events, seed, rounds, machine, results, ratios };
}
