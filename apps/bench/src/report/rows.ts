import type {
  BacklogRow,
  FairnessRow,
  GatewayRow,
  GrowthRow,
  HistoryRow,
  LatencyRow,
  MemoryRow,
  PublishRow,
  RecoveryRow,
  RelayRow,
  RetryRow,
  Run,
} from "../results.ts";

/** Which rows each workload has; a workload that is not here can be neither drawn nor put on the page. */
export interface RowsOf {
  readonly hot: BacklogRow;
  readonly zipf: BacklogRow;
  readonly uniform: BacklogRow;
  readonly latency: LatencyRow;
  readonly publish: PublishRow;
  readonly fairness: FairnessRow;
  readonly history: HistoryRow;
  readonly growth: GrowthRow;
  readonly memory: MemoryRow;
  readonly relay: RelayRow;
  readonly gateway: GatewayRow;
  readonly recovery: RecoveryRow;
  readonly retries: RetryRow;
}

export type WorkloadName = keyof RowsOf;

export const BACKLOGS = ["hot", "zipf", "uniform"] as const;

export const OWN = "junban";

/** Junban, or Junban with other settings. */
export function isOwn(contender: string): boolean {
  return contender === OWN || contender.startsWith(`${OWN}-`);
}

/** They show how far the machine goes, and are nobody to be compared with. */
const CEILINGS: ReadonlySet<string> = new Set(["bullmq-noop", "sql-ceiling"]);

export function isCeiling(contender: string): boolean {
  return CEILINGS.has(contender);
}

/** The run of that workload, if it is among them. */
export function runOf<Name extends WorkloadName>(
  runs: readonly Run<unknown>[],
  name: Name,
): Run<RowsOf[Name]> | undefined {
  return runs.find(({ workload }) => workload === name) as Run<RowsOf[Name]> | undefined;
}

/** Whether something went wrong with the events themselves, as far as it was looked at. */
export function isBroken(row: {
  readonly inversions: number | null;
  readonly lost?: number | null;
  readonly doubled?: number | null;
  readonly overtaken?: number | null;
}): boolean {
  return [row.inversions, row.lost, row.doubled, row.overtaken].some((count) => (count ?? 0) > 0);
}
