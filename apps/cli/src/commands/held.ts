import { withSetting, type Registration } from "../command.ts";
import { durationMs } from "../duration.ts";
import { count } from "../printing.ts";
import { wholeNumber } from "../whole-number.ts";

export function registerHeld({ program, env }: Registration): void {
  program
    .command("held")
    .description("early events that wait for something, and until when; those due first in front")
    .option("--due-within <duration>", "only those whose deadline is that near")
    .option("--limit <n>", "at most so many", "100")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban held --due-within 2h")
    .action(async (options: { dueWithin?: string; limit: string; json?: true }) => {
      const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: 100_000 });
      const due = options.dueWithin === undefined ? {} : { dueWithinMs: durationMs(options.dueWithin) };
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const held = await services.store().listHeld({ ...due, limit });
        if (options.json === true) return printer.json({ held, limit });
        if (held.length === 0) {
          const all = options.dueWithin === undefined ? 0 : (await services.store().gauges()).held;
          const further = all > 0 ? `due within ${options.dueWithin} (${count(all)} held)` : "held";
          return printer.out(`nothing is ${further}`);
        }
        const rows = held.map(
          ({ lcid, type, source, id, reason, until }) =>
            [lcid, type, source, id, waitsFor(reason), until] as const,
        );
        printer.table(["order", "type", "source", "id", "waits for", "until"], rows);
        if (held.length === limit) printer.note(`only the first ${limit}; see --limit`);
      });
    });
}

/** Most reasons name what is waited for; two only say how it waits. */
export function waitsFor(reason: string): string {
  if (reason === "BLOCKED") return "the failed event (BLOCKED)";
  return reason === "UNSUPPORTED" ? "a newer build (UNSUPPORTED)" : reason;
}
