import type { Sandbox } from "@junban/sandbox";
import type { Contender } from "../contenders/contender.ts";
import type { Machine, Run } from "../results.ts";

/** What a workload is run with. */
export interface Stage {
  readonly sandbox: Sandbox;
  readonly machine: Machine;
  /** Whom to measure, Junban first. Workloads that measure Junban alone leave the others out. */
  readonly contenders: readonly Contender[];
  readonly events: number;
  readonly rounds: number;
  readonly seed: number;
  /** A contender that takes longer for one round is cut off, and its rate is what it did until then. */
  readonly withinMs: number;
  /** Progress, one line each. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** One thing to measure: `npm run bench -- --workload NAME`. */
export interface Workload<Row> {
  readonly name: string;
  /** One sentence for the usage text and the page. */
  readonly what: string;
  readonly defaultEvents: number;
  /** How the report runs it where that differs from three rounds of at most twenty seconds with everybody. */
  readonly inReport?: {
    readonly withinMs?: number;
    readonly rounds?: number;
    /** Whom the report leaves out, by name. */
    readonly without?: readonly string[];
  };
  run(stage: Stage): Promise<Run<Row>>;
  /** What a person reads: a title line, then a line a row, in columns. */
  table(run: Run<Row>): readonly string[];
}
