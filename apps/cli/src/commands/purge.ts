import { failedAct, purgeAct, withLane } from "@junban/operations";
import { withSetting, type Registration, type Setting } from "../command.ts";
import { agree } from "../confirm.ts";
import { durationMs } from "../duration.ts";
import { FoundWrong } from "../exit.ts";
import { NotedActs } from "../noted.ts";
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
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        const { printer, signal } = setting;
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
        const walk = async (): Promise<Purged> =>
          purgeAll(setting, { olderThanMs, isDry: options.dryRun === true });
        const { found, purged, stoppedBy } =
          options.dryRun === true
            ? await walk()
            : await new NotedActs(setting).done(purgeAct(options), walk, { told: purgedSays });
        printer.endProgress();
        if (options.json === true) printer.json({ found, purged });
        else printer.out(`${counted(found, "finished order")} older than that, ${count(purged)} purged`);
        if (stoppedBy !== null) throw stoppedBy;
        if (signal.aborted) throw new FoundWrong("interrupted");
      });
    });
}

interface Purged {
  readonly found: number;
  readonly purged: number;
  /** What kept the rest from being purged; null when nothing did. */
  readonly stoppedBy: Error | null;
}

async function purgeAll(
  { services, printer, signal }: Setting,
  { olderThanMs, isDry }: { readonly olderThanMs: number; readonly isDry: boolean },
): Promise<Purged> {
  let purged = 0;
  let found = 0;
  let after = "";
  try {
    while (!signal.aborted) {
      const lcids = await services.store().purgeable({ olderThanMs, limit: PAGE_SIZE, after });
      for (const lcid of lcids) {
        if (signal.aborted) break;
        found += 1;
        if (!isDry) {
          purged += Number(await withLane(services.lanes(), lcid, () => services.store().purgeOne(lcid)));
        }
        printer.progress(`${counted(found, "order")} found, ${count(purged)} purged`);
      }
      after = lcids.at(-1) ?? after;
      if (lcids.length < PAGE_SIZE) break;
    }
  } catch (error) {
    // What is gone is gone: it is told, and on record, whatever befell the next.
    if (purged === 0 || !(error instanceof Error)) throw error;
    return { found, purged, stoppedBy: error };
  }
  return { found, purged, stoppedBy: null };
}

function purgedSays({ purged, stoppedBy }: Purged): string {
  const rest = stoppedBy === null ? "" : `; then it ended: ${failedAct(stoppedBy).says}`;
  return `${counted(purged, "order")} purged${rest}.`;
}
