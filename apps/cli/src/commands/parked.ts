import type { ParkedNews } from "@junban/order-store";
import { withSetting, type Registration } from "../command.ts";
import { FoundWrong, UsageError } from "../exit.ts";
import { count, moment, table } from "../printing.ts";
import { wholeNumber } from "../whole-number.ts";

const ALL_LIMIT = 100_000;

export function registerParked({ program, env }: Registration): void {
  const parked = program
    .command("parked")
    .description("order updates that the relay could not pass on, and why; oldest first")
    .option("--limit <n>", "at most so many", "100")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban parked retry 1204")
    .action(async (options: { limit: string; json?: true }) => {
      const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: ALL_LIMIT });
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const news = await services.store().listParked({ limit });
        if (options.json === true) return printer.json({ parked: news, limit });
        if (news.length === 0) return printer.out("nothing is parked");
        printer.out(table(["number", "order", "version", "parked", "reason"], news.map(rowOf)));
        if (news.length === limit) printer.note(`only the first ${limit}; see --limit`);
      });
    });
  registerRetry({ program: parked, env });
}

function registerRetry({ program, env }: Registration): void {
  program
    .command("retry")
    .description("give them back to the relay; 1 if one of them is not parked")
    .argument("[number...]", "their numbers")
    .option("--all", `all of them, at most ${count(ALL_LIMIT)}`)
    .option("--json", "print one JSON document")
    .action(async (numbers: readonly string[], options: { all?: true; json?: true }) => {
      const named = numbers.map((text) =>
        wholeNumber(text, { name: "number", min: 1, max: Number.MAX_SAFE_INTEGER }),
      );
      if ((options.all === true) === named.length > 0) {
        throw new UsageError("name the numbers of what is to be tried again, or say --all");
      }
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const store = services.store();
        const ids =
          options.all === true
            ? (await store.listParked({ limit: ALL_LIMIT })).map(({ id }) => id)
            : [...new Set(named)];
        const retried = new Set(await store.putBackParked(ids));
        const missing = ids.filter((id) => !retried.has(id));
        if (options.json === true) printer.json({ retried: [...retried], missing });
        else printer.out(`${count(retried.size)} given back to the relay`);
        if (missing.length > 0) throw new FoundWrong(`not parked: ${missing.join(", ")}`);
      });
    });
}

function rowOf({ id, lcid, version, parkedAt, reason }: ParkedNews): readonly (string | number | null)[] {
  return [id, lcid, version, moment(parkedAt), reason];
}
