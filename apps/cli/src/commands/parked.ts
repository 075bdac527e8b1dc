import { failedAct, giveBackAct } from "@junban/operations";
import { PUT_BACK_AT_ONCE } from "@junban/order-store";
import type { OrderStore, ParkedNews, PutBackResult } from "@junban/order-store";
import { withSetting, type Registration, type Setting } from "../command.ts";
import { agree } from "../confirm.ts";
import { FoundWrong, UsageError } from "../exit.ts";
import { NotedActs } from "../noted.ts";
import { count } from "../printing.ts";
import type { Cell } from "../table.ts";
import { wholeNumber } from "../whole-number.ts";
import { registerParkedDrop } from "./parked-drop.ts";

const ALL_LIMIT = 100_000;

export function registerParked({ program, env }: Registration): void {
  const parked = program
    .command("parked")
    .description("order updates that the relay could not pass on, and why; oldest first")
    .option("--limit <n>", "at most so many", "100")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban parked --limit 20")
    .action(async (options: { limit: string; json?: true }) => {
      const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: ALL_LIMIT });
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const news = await services.store().listParked({ limit });
        if (options.json === true) return printer.json({ parked: news, limit });
        if (news.length === 0) return printer.out("nothing is parked");
        printer.table(["number", "order", "version", "parked", { cuttable: "reason" }], news.map(rowOf));
        if (news.length === limit) printer.note(`only the first ${limit}; see --limit`);
      });
    });
  registerRetry({ program: parked, env });
  registerParkedDrop({ program: parked, env });
}

function registerRetry({ program, env }: Registration): void {
  program
    .command("retry")
    .description(
      "give them back to the relay; 1 if one of them is not parked, or stands in the outbox already",
    )
    .argument("[number...]", "their numbers")
    .option("--all", `all of them, ${count(PUT_BACK_AT_ONCE)} at a time`)
    .option("--yes", "with --all: do not ask")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban parked retry 1204")
    .action(async (numbers: readonly string[], options: { all?: true; yes?: true; json?: true }) => {
      const named = numbers.map((text) =>
        wholeNumber(text, { name: "number", min: 1, max: Number.MAX_SAFE_INTEGER }),
      );
      if ((options.all === true) === named.length > 0) {
        throw new UsageError("name the numbers of what is to be tried again, or say --all");
      }
      await withSetting({ env, need: ["database"] }, async (setting) => {
        const store = setting.services.store();
        if (options.all === true) {
          await agree(process, {
            says:
              "This gives every parked order update back to the relay, in its old place. " +
              "What it still cannot pass on is parked again, and takes its time until then.",
            yes: options.yes === true,
            // What cannot be passed on comes back here: a script may go on.
            isGrave: false,
            signal: setting.signal,
          });
        }
        const portions = options.all === true ? everyPortion(store) : portionsOf([...new Set(named)]);
        const { back, standing, missing, stoppedBy } = await new NotedActs(setting).done(
          giveBackAct(options.all === true ? null : [...new Set(named)]),
          () => putBack(setting, portions),
          { told: putBackSays },
        );
        const { printer, signal } = setting;
        if (options.json === true) printer.json({ retried: back, standing, missing });
        else printer.out(`${count(back.length)} given back to the relay`);
        if (stoppedBy !== null) throw stoppedBy;
        const wrong = [
          ...(missing.length > 0 ? [`not parked: ${someOf(missing)}`] : []),
          ...(standing.length > 0
            ? [`still parked, since the outbox holds the same version already: ${someOf(standing)}`]
            : []),
          ...(signal.aborted ? ["interrupted; run it again for the rest"] : []),
        ];
        if (wrong.length > 0) throw new FoundWrong(wrong.join("\n"));
      });
    });
}

/** Each portion is a transaction of its own, so that what was given back stays so whatever becomes of the rest. */
async function putBack(
  { services, printer, signal }: Setting,
  portions: Iterable<readonly number[]> | AsyncIterable<readonly number[]>,
): Promise<PutBackTogether> {
  const back: number[] = [];
  const standing: number[] = [];
  const missing: number[] = [];
  let stoppedBy: Error | null = null;
  try {
    for await (const ids of portions) {
      if (signal.aborted) break;
      const result = await services.store().putBackParked(ids);
      back.push(...result.back);
      standing.push(...result.standing);
      missing.push(...result.missing);
      if (ids.length === PUT_BACK_AT_ONCE) printer.progress(`${count(back.length)} given back so far`);
    }
  } catch (error) {
    if (back.length === 0 || !(error instanceof Error)) throw error;
    stoppedBy = error;
  }
  printer.endProgress();
  return { back, standing, missing, stoppedBy };
}

interface PutBackTogether extends PutBackResult {
  /** What kept the rest from being given back; null when nothing did. */
  readonly stoppedBy: Error | null;
}

function putBackSays({ back, standing, stoppedBy }: PutBackTogether): string {
  const parts = [
    `${count(back.length)} given back to the relay`,
    ...(standing.length > 0 ? [`${count(standing.length)} stay parked`] : []),
    ...(stoppedBy === null ? [] : [`not all of them: ${failedAct(stoppedBy).says}`]),
  ];
  return `${parts.join("; ")}.`;
}

function* portionsOf(ids: readonly number[]): Iterable<readonly number[]> {
  for (let first = 0; first < ids.length; first += PUT_BACK_AT_ONCE) {
    yield ids.slice(first, first + PUT_BACK_AT_ONCE);
  }
}

/** By rising numbers, so that what the relay parks again meanwhile under its old number does not come twice. */
async function* everyPortion(store: Pick<OrderStore, "listParked">): AsyncIterable<readonly number[]> {
  let after = 0;
  for (;;) {
    const ids = (await store.listParked({ limit: PUT_BACK_AT_ONCE, after })).map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    yield ids;
    after = last;
  }
}

function someOf(ids: readonly number[]): string {
  const first = ids.slice(0, 20).join(", ");
  return ids.length > 20 ? `${first} and ${count(ids.length - 20)} more` : first;
}

function rowOf({ id, lcid, version, parkedAt, reason }: ParkedNews): readonly Cell[] {
  return [id, lcid, version, parkedAt, reason];
}
