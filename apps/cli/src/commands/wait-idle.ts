import { setTimeout as pause } from "node:timers/promises";
import { withSetting, type Registration, type Setting } from "../command.ts";
import { durationMs } from "../duration.ts";
import { FoundWrong } from "../exit.ts";
import { count } from "../printing.ts";

/** What is not done yet. */
interface Backlog {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  /** Requests that stand in lanes; not looked at while queues are busy. */
  readonly standing: number;
  /** Orders with overdue held events, up to 100. */
  readonly due: number;
}

const LOOK_EVERY_MS = 250;
const DUE_LOOKED_AT = 100;

export function registerWaitIdle({ program, env }: Registration): void {
  program
    .command("wait-idle")
    .description("wait until queues, lanes and due work are empty; exit 1 on timeout, with what is left")
    .option("--timeout <duration>", "how long to wait", "60s")
    .option("--json", "print one JSON document at the end")
    .action(async (options: { timeout: string; json?: true }) => {
      const timeoutMs = durationMs(options.timeout);
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        const startedAtMs = performance.now();
        const left = await untilIdle(setting, startedAtMs + timeoutMs);
        const seconds = (performance.now() - startedAtMs) / 1_000;
        if (options.json === true) setting.printer.json({ idle: isIdle(left), left, seconds });
        else if (isIdle(left)) setting.printer.out(`idle after ${seconds.toFixed(1)} s`);
        if (!isIdle(left)) throw new FoundWrong(`not idle after ${seconds.toFixed(1)} s: ${describe(left)}`);
      });
    });
}

async function untilIdle(setting: Setting, untilMs: number): Promise<Backlog> {
  for (;;) {
    const backlog = await backlogOf(setting);
    if (isIdle(backlog) || setting.signal.aborted || performance.now() >= untilMs) {
      setting.printer.endProgress();
      return backlog;
    }
    setting.printer.progress(describe(backlog));
    await pause(LOOK_EVERY_MS);
  }
}

async function backlogOf({ services }: Setting): Promise<Backlog> {
  const counts = Object.values(await services.queues().counts());
  const sum = (of: (family: (typeof counts)[number]) => number): number =>
    counts.reduce((total, family) => total + of(family), 0);
  const queued = {
    waiting: sum(({ waiting, prioritized }) => waiting + prioritized),
    active: sum(({ active }) => active),
    delayed: sum(({ delayed }) => delayed),
  };
  // Looking through all lanes is only worth it once the queues are empty.
  if (queued.waiting + queued.active + queued.delayed > 0) return { ...queued, standing: 0, due: 0 };
  let standing = 0;
  for await (const lcids of services.lanes().scan()) {
    const reports = await Promise.all(lcids.map((lcid) => services.lanes().inspect(lcid)));
    standing += reports.reduce((total, { depth }) => total + depth, 0);
  }
  const due = await services.store().dueHeld({ limit: DUE_LOOKED_AT });
  return { ...queued, standing, due: due.length };
}

function isIdle(backlog: Backlog): boolean {
  return Object.values(backlog).every((part) => part === 0);
}

function describe({ waiting, active, delayed, standing, due }: Backlog): string {
  return [
    `${count(waiting)} jobs waiting`,
    `${count(active)} active`,
    `${count(delayed)} delayed`,
    `${count(standing)} requests in lanes`,
    `${count(due)} orders with due deferrals`,
  ].join(", ");
}
