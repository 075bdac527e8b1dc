import { backlogOf } from "./backlog.ts";
import { fairnessOf } from "./fairness.ts";
import { gatewayOf } from "./gateway.ts";
import { growthOf } from "./growth.ts";
import { historyOf } from "./history.ts";
import { BACKLOGS } from "./index.ts";
import { latencyOf } from "./latency.ts";
import { memoryOf } from "./memory.ts";
import { publishOf } from "./publish.ts";
import { recovery } from "./recovery.ts";
import { relayOf } from "./relay.ts";
import { retries } from "./retries.ts";
import type { Workload } from "./workload.ts";

const warmUp = 200;

/** The same workloads, as small as shows that they work. Their figures mean nothing. */
export const QUICK_WORKLOADS: readonly Workload<unknown>[] = [
  ...BACKLOGS.map((backlog) => backlogOf({ ...backlog, warmUp })),
  latencyOf({ loads: [0.3, 0.7], offeredMs: 1_000, warmUp }),
  publishOf({ warmUp }),
  fairnessOf({ others: 20, perSecond: 100, doublings: 8, floodCall: 100, warmUp }),
  historyOf({
    order: { short: 10, long: 200 },
    inbox: { short: 200, long: 2_000 },
    open: { short: 200, long: 2_000 },
    warmUp,
  }),
  growthOf({ processes: [1, 2], factors: [1, 2], warmUp }),
  memoryOf({ chunk: 200, warmUp }),
  relayOf({ warmUp }),
  gatewayOf({ warmUp }),
  recovery,
  retries,
];
