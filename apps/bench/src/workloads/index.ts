import { hot, uniform, zipf, type Backlog } from "./backlog.ts";
import { fairness } from "./fairness.ts";
import { gateway } from "./gateway.ts";
import { growth } from "./growth.ts";
import { history } from "./history.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { publish } from "./publish.ts";
import { recovery } from "./recovery.ts";
import { relay } from "./relay.ts";
import { retries } from "./retries.ts";
import type { Workload } from "./workload.ts";

export const BACKLOGS: readonly Backlog[] = [hot, zipf, uniform];

/** Everything that can be measured. */
export const WORKLOADS: readonly Workload<unknown>[] = [
  ...BACKLOGS,
  latency,
  publish,
  fairness,
  history,
  growth,
  memory,
  relay,
  gateway,
  recovery,
  retries,
];
