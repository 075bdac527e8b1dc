import { hot, uniform, zipf, type Backlog } from "./backlog.ts";
import type { Workload } from "./workload.ts";

export const BACKLOGS: readonly Backlog[] = [hot, zipf, uniform];

/** Everything that can be measured. */
export const WORKLOADS: readonly Workload<unknown>[] = [...BACKLOGS];
