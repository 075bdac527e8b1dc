import { arch, cpus, release, totalmem, type } from "node:os";
import type { Sandbox } from "@junban/sandbox";
import type { Machine } from "./results.ts";

/** What figures of a run depend on. The servers' versions stand at the beginning of their logs. */
export async function machineOf({ postgres, redis }: Sandbox): Promise<Machine> {
  const processors = cpus();
  const [postgresLog, redisLog] = await Promise.all([postgres.logTail(), redis.logTail()]);
  return {
    cores: processors.length,
    memoryBytes: totalmem(),
    node: process.version,
    postgres: /PostgreSQL (\d[\w.]*)/u.exec(postgresLog)?.[1] ?? "unknown",
    redis: /(?:Redis|Valkey) version=([\w.]+)/u.exec(redisLog)?.[1] ?? "unknown",
    system: [type(), release(), arch(), processors[0]?.model.trim()].join(" "),
  };
}
