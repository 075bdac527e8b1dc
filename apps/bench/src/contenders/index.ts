import { bullmqNoop } from "./bullmq-noop.ts";
import type { Contender } from "./contender.ts";
import { graphile } from "./graphile.ts";
import { groupmq } from "./groupmq.ts";
import { junban, junbanSingle } from "./junban.ts";
import { naiveLock } from "./naive-lock.ts";
import { pgboss } from "./pg-boss.ts";
import { pgRowLock } from "./pg-row-lock.ts";
import { redlock } from "./redlock.ts";
import { sqlCeiling } from "./sql-ceiling.ts";

/** Everybody who can be measured; Junban first, ceilings last. */
export const CONTENDERS: readonly Contender[] = [
  junban,
  junbanSingle,
  groupmq,
  graphile,
  pgboss,
  redlock,
  naiveLock,
  pgRowLock,
  bullmqNoop,
  sqlCeiling,
];
