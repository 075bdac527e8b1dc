import { dropParkedAct } from "@junban/operations";
import { withSetting, type Registration } from "../command.ts";
import { agree } from "../confirm.ts";
import { FoundWrong, UsageError } from "../exit.ts";
import { NotedActs } from "../noted.ts";
import { wholeNumber } from "../whole-number.ts";

export function registerParkedDrop({ program, env }: Registration): void {
  program
    .command("drop")
    .description("delete one for good, on record; subscribers go on with a gap in its place")
    .argument("<number>", "its number")
    .option("--reason <reason>", "why; kept on record")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON document")
    .addHelpText("after", '\nExample: junban parked drop 1204 --reason "told the subscriber by hand"')
    .action(async (text: string, options: { reason?: string; yes?: true; json?: true }) => {
      const id = wholeNumber(text, { name: "number", min: 1, max: Number.MAX_SAFE_INTEGER });
      const { reason } = options;
      if (reason === undefined || reason.trim() === "") {
        throw new UsageError("parked drop needs --reason, which is kept on record");
      }
      await withSetting({ env, need: ["database"] }, async (setting) => {
        const { services, printer, signal } = setting;
        const [news] = await services.store().listParked({ limit: 1, after: id - 1 });
        if (news === undefined || news.id !== id) {
          if (options.json === true) printer.json({ number: id, dropped: false });
          throw new FoundWrong(notParked(id));
        }
        await agree(process, {
          says:
            `This deletes the order update ${id}, version ${news.version} of ${news.lcid}, for good. Subscribers never get it, ` +
            "and go on with a gap in its place; the order itself stays as it is.",
          yes: options.yes === true,
          isGrave: true,
          signal,
        });
        const isDropped = await new NotedActs(setting).done(
          dropParkedAct(news, { reason }),
          () => services.store().dropParked(id),
          { told: (dropped) => (dropped ? "Deleted." : "It was not parked.") },
        );
        if (options.json === true) printer.json({ number: id, dropped: isDropped });
        if (!isDropped) throw new FoundWrong(notParked(id));
        if (options.json !== true) printer.out(`${id} is deleted`);
      });
    });
}

function notParked(id: number): string {
  return `not parked: ${id}`;
}
