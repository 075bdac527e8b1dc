import { bullmqNoop } from "./bullmq-noop.ts";
import type { Contender } from "./contender.ts";
import { junban, junbanSingle } from "./junban.ts";
import { sqlCeiling } from "./sql-ceiling.ts";

/** Everybody who can be measured; Junban first. */
export const CONTENDERS: readonly Contender[] = [junban, junbanSingle, bullmqNoop, sqlCeiling];
