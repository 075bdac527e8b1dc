import { withLane } from "@junban/operations";
import { withSetting, type Registration } from "../command.ts";
import { agree } from "../confirm.ts";
import { durationMs } from "../duration.ts";
import { FoundWrong } from "../exit.ts";
import { count, counted } from "../printing.ts";

const PAGE_SIZE = 100;

export function registerPurge({ program, env }: Registration): void {
  program
    .command("purge")
    .description(
      "delete finished orders and their events, one at a time; a tombstone answers later events of theirs",
    )
    .requiredOption("--older-than <duration>", "only orders that did not change for so long, such as 400d")
    .option("--dry-run", "only say how many there are")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban purge --older-than 400d --dry-run")
    .action(async (options: { olderThan: string; dryRun?: true; yes?: true; json?: true }) => {
      const olderThanMs = durationMs(options.olderThan);
      await withSetting({ env, need: ["database", "redis"] }, async ({ services, printer, signal }) => {
        if (options.dryRun !== true) {
          await agree(process, {
            says:
              `This deletes every finished order that did not change for ${options.olderThan}, with its lines and events, ` +
              "for good. A tombstone stays, which refuses later events of it. --dry-run counts them.",
            yes: options.yes === true,
            isGrave: true,
            signal,
          });
        }
        let purged = 0;
        let found = 0;
        let after = "";
        while (!signal.aborted) {
          const lcids = await services.store().purgeable({ olderThanMs, limit: PAGE_SIZE, after });
          for (const lcid of lcids) {
            if (signal.aborted) break;
            found += 1;
            if (options.dryRun !== true) {
              purged += Number(await withLane(services.lanes(), lcid, () => services.store().purgeOne(lcid)));
            }
            printer.progress(`${counted(found, "order")} found, ${count(purged)} purged`);
          }
          after = lcids.at(-1) ?? after;
          if (lcids.length < PAGE_SIZE) break;
        }
        printer.endProgress();
        if (options.json === true) printer.json({ found, purged });
        else printer.out(`${counted(found, "finished order")} older than that, ${count(purged)} purged`);
        if (signal.aborted) throw new FoundWrong("interrupted");
      });
    });
}
