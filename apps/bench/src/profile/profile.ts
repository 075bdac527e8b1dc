import { readFile } from "node:fs/promises";
import type { Profiler } from "node:inspector";
import { extname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { EventEnvelope } from "@junban/orders";
import { forgetStatementTimes, statementTimes, type StatementTime } from "@junban/sandbox";
import { Redis } from "ioredis";
import type { Contender } from "../contenders/contender.ts";
import { type Live, type LiveOptions, startLive } from "../rounds/live.ts";
import { commandTimes, type CommandTime, forgetCommandTimes } from "./command-times.ts";
import { type Calls, callsBetween } from "./cpu-profile.ts";
import { figuresBetween, type ProcessFigures, processFigures } from "./process-figures.ts";

/** Where the time of one backlog went, from the moment it was let go until it was empty. */
export interface Profile {
  readonly contender: string;
  readonly events: number;
  readonly seconds: number;
  /** Null where the system does not tell. */
  readonly process: ProcessFigures | null;
  readonly cpuSeconds: { readonly node: number; readonly redis: number; readonly postgres: number } | null;
  readonly calls: Calls;
  readonly commands: readonly CommandTime[];
  readonly statements: readonly StatementTime[];
}

/** The Postgres of `sandbox` must have been started with `STATEMENT_TIMES`. */
export interface ProfileOptions extends Pick<LiveOptions, "sandbox" | "prefix" | "warmUp"> {
  readonly events: readonly EventEnvelope[];
  /** Where the process's .cpuprofile is put. */
  readonly folder: string;
  readonly withinMs: number;
}

/** As compiled as this file is. */
const PRELOAD = new URL(`./preload${extname(import.meta.url)}`, import.meta.url).href;

/** Runs one contender, in one process, with V8's profiler over the backlog alone. */
export async function profileOf(contender: Contender, options: ProfileOptions): Promise<Profile> {
  const { sandbox, events, folder, withinMs } = options;
  const file = join(folder, `${contender.name}.cpuprofile`);
  const env = {
    NODE_OPTIONS: `${contender.env["NODE_OPTIONS"] ?? ""} --import ${PRELOAD}`,
    BENCH_PROFILE: file,
  };
  const live = await startLive(contender, { ...options, env });
  const redis = new Redis(sandbox.redis.url);
  try {
    const [tree] = live.trees;
    if (tree === undefined) throw new TypeError("a contender has a process");
    tree.signal("SIGUSR2");
    await tree.waitForLine(/^profile: sampling$/u);
    live.freeze();
    await live.carrier.publish(events);
    await forgetStatementTimes(sandbox.postgres);
    await forgetCommandTimes(redis);
    const before = { process: await processFigures(tree.pid), cpu: await live.cpuSeconds() };
    const fromUs = monotonicUs();
    live.letGo();
    await emptied(live, { of: events.length, withinMs });
    const toUs = monotonicUs();
    const after = { process: await processFigures(tree.pid), cpu: await live.cpuSeconds() };
    const commands = await commandTimes(redis);
    const statements = await statementTimes(sandbox.postgres, live.ground.databaseUrl);
    tree.signal("SIGUSR2");
    await tree.waitForLine(/^profile: written$/u);
    const calls = callsBetween(JSON.parse(await readFile(file, "utf8")) as Profiler.Profile, {
      fromUs,
      toUs,
    });
    return {
      contender: contender.name,
      events: events.length,
      seconds: (toUs - fromUs) / 1e6,
      process:
        before.process === null || after.process === null
          ? null
          : figuresBetween(before.process, after.process),
      cpuSeconds: before.cpu === null || after.cpu === null ? null : cpuBetween(before.cpu, after.cpu),
      calls,
      commands,
      statements,
    };
  } finally {
    redis.disconnect();
    await live.stop();
  }
}

type Cpu = NonNullable<Profile["cpuSeconds"]>;

function cpuBetween(before: Cpu, after: Cpu): Cpu {
  return {
    node: after.node - before.node,
    redis: after.redis - before.redis,
    postgres: after.postgres - before.postgres,
  };
}

/** The clock of V8's profiles. */
function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Each look costs Redis something that would count as the contender's, so there are few while much is left. */
async function emptied(
  live: Live,
  { of, withinMs }: { readonly of: number; readonly withinMs: number },
): Promise<void> {
  const startedMs = performance.now();
  let waitMs = 100;
  for (;;) {
    await pause(waitMs);
    const left = await live.carrier.left();
    if (left === 0) return;
    const elapsedMs = performance.now() - startedMs;
    if (elapsedMs > withinMs) throw new Error(`${left} of ${of} jobs were left after ${withinMs / 1_000} s`);
    const restMs = of === left ? elapsedMs : (elapsedMs * left) / (of - left);
    waitMs = Math.min(Math.max(restMs / 2, 20), 2_000);
  }
}
