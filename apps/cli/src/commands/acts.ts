import { withSetting, type Registration } from "../command.ts";
import { wholeNumber } from "../whole-number.ts";

export function registerActs({ program, env }: Registration): void {
  program
    .command("acts")
    .description("what people did to the fleet, by command or console: who, what, why and with which result")
    .option("--limit <n>", "at most the newest so many", "50")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban acts --limit 20")
    .action(async (options: { limit: string; json?: true }) => {
      const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: 100_000 });
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const acts = await services.store().listActions({ limit });
        if (options.json === true) return printer.json({ acts, limit });
        if (acts.length === 0) return printer.out("nothing is on record");
        printer.table(
          ["begun", "who", "act", "target", { cuttable: "reason" }, "result", { cuttable: "detail" }],
          acts.map(({ begunAt, who, act, target, reason, result, detail }) => [
            begunAt,
            who,
            act,
            target,
            reason,
            // Its end was not noted: whoever did it was interrupted, or is not done yet.
            result ?? "no end",
            detail,
          ]),
        );
        if (acts.length === limit) printer.note(`only the newest ${limit}; see --limit`);
      });
    });
}
