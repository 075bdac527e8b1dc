import { setTimeout as pause } from "node:timers/promises";
import { isIdle, readBacklog, type Backlog } from "@junban/operations";
import { describeBacklog } from "../backlog.ts";
import { withSetting, type Registration, type Setting } from "../command.ts";
import { durationMs } from "../duration.ts";
import { FoundWrong } from "../exit.ts";

const LOOK_EVERY_MS = 250;

export function registerWaitIdle({ program, env }: Registration): void {
  program
    .command("wait-idle")
    .description("wait until queues, lanes and due work are empty; exit 1 on timeout, with what is left")
    .option("--timeout <duration>", "how long to wait", "60s")
    .option("--json", "print one JSON document at the end")
    .addHelpText("after", "\nExample: junban wait-idle --timeout 5m")
    .action(async (options: { timeout: string; json?: true }) => {
      const timeoutMs = durationMs(options.timeout);
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        const startedAtMs = performance.now();
        const left = await untilIdle(setting, startedAtMs + timeoutMs);
        const seconds = (performance.now() - startedAtMs) / 1_000;
        if (options.json === true) setting.printer.json({ idle: isIdle(left), left, seconds });
        else if (isIdle(left)) setting.printer.out(`idle after ${seconds.toFixed(1)} s`);
        if (!isIdle(left)) {
          throw new FoundWrong(`not idle after ${seconds.toFixed(1)} s: ${describeBacklog(left)}`);
        }
      });
    });
}

async function untilIdle(setting: Setting, untilMs: number): Promise<Backlog> {
  for (;;) {
    const backlog = await readBacklog(setting.services.fleet());
    if (isIdle(backlog) || setting.signal.aborted || performance.now() >= untilMs) {
      setting.printer.endProgress();
      return backlog;
    }
    setting.printer.progress(describeBacklog(backlog));
    await pause(LOOK_EVERY_MS);
  }
}
