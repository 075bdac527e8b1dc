import type { LaneReport } from "@junban/handoff-lock";
import {
  freeingSays,
  freeLane,
  freeLaneAct,
  lasting,
  readBusyLanes,
  readLane,
  turnsLost,
  type LaneInFull,
} from "@junban/operations";
import { withSetting, type Registration, type Setting } from "../command.ts";
import { agree } from "../confirm.ts";
import { FoundWrong, UsageError } from "../exit.ts";
import { failureSays, NotedActs } from "../noted.ts";
import { counted, type Printer } from "../printing.ts";
import type { Cell } from "../table.ts";
import { wholeNumber } from "../whole-number.ts";

const MOST_LANES = 1_000;
/** As many as the lane gives out at once: each may bring a whole event. */
const MOST_REQUESTS = 256;

export function registerLanes({ program, env }: Registration): void {
  program
    .command("lanes")
    .description(
      "busy lanes, the deepest first: depth, jobs waiting, holder, lease left, turns lost in a row",
    )
    .option("--limit <n>", "at most so many", "20")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban lanes --limit 5")
    .action(async (options: { limit: string; json?: true }) => {
      const shown = wholeNumber(options.limit, { name: "--limit", min: 1, max: MOST_LANES });
      await withSetting({ env, need: ["redis"] }, async ({ services, printer }) => {
        const { deepest, losing: _losing, ...busy } = await readBusyLanes(services.lanes(), { shown });
        if (options.json === true) return printer.json({ ...busy, lanes: deepest.map(withTurnsLost) });
        if (deepest.length === 0) return printer.out("no lane is busy");
        printer.table(
          ["order", "requests", "jobs waiting", { cuttable: "holder" }, "lease left", "turns lost in a row"],
          deepest.map(rowOf),
        );
        if (busy.busy > deepest.length) {
          printer.note(`only the ${shown} deepest of ${counted(busy.busy, "busy lane")}; see --limit`);
        }
        if (busy.more) printer.note("there are more lanes than were looked at; deeper ones may be missing");
      });
    });
  registerLane({ program, env });
}

function registerLane({ program, env }: Registration): void {
  program
    .command("lane")
    .description(
      "one lane in full: its line, holder, lease, waiting jobs, lost turns, outcomes nobody came for",
    )
    .argument("<lcid>", "the order whose lane it is")
    .option("--limit <n>", `at most so many requests of the line, up to ${MOST_REQUESTS}`, "20")
    .option("--skip <n>", "pass over so many requests of the line", "0")
    .option("--free", "drop the lock, so that the next in line gets the lane at once")
    .option("--yes", "with --free: do not ask")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban lane A-1001 --limit 100")
    .action(
      async (
        lcid: string,
        options: { limit: string; skip: string; free?: true; yes?: true; json?: true },
      ) => {
        const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: MOST_REQUESTS });
        const skip = wholeNumber(options.skip, { name: "--skip", min: 0, max: 1_000_000_000 });
        if (options.yes === true && options.free !== true) {
          throw new UsageError("--yes goes with --free; looking at a lane asks nothing");
        }
        // What is done is noted in Postgres.
        const need = options.free === true ? (["database", "redis"] as const) : (["redis"] as const);
        await withSetting({ env, need }, async (setting) => {
          const lane = await readLane(setting.services.lanes(), { lcid, skip, limit });
          if (options.free === true) {
            await free(setting, lane, { yes: options.yes === true, json: options.json === true });
          } else if (options.json === true) {
            setting.printer.json({ ...lane, turnsLost: turnsLost(lane) });
          } else {
            print(setting.printer, lane, { skip });
          }
        });
      },
    );
}

async function free(
  setting: Setting,
  { lcid, holder, leaseLeftMs }: LaneReport,
  { yes, json }: { readonly yes: boolean; readonly json: boolean },
): Promise<void> {
  const { services, printer, signal } = setting;
  if (holder === null) {
    if (json) printer.json({ lcid, holder, freed: false });
    else printer.out(`nobody holds the lane of ${lcid}; nothing was changed`);
    return;
  }
  await agree(process, { says: freeingSays({ lcid, holder, leaseLeftMs }), yes, isGrave: true, signal });
  // Only the holder that was shown: whoever came since keeps the lane.
  const acted = await new NotedActs(setting).carryOut(
    freeLaneAct({ lcid, holder }),
    () => freeLane(services.lanes(), { lcid, holder }),
    { told: () => "It is free.", inRedis: true },
  );
  if (acted.kind === "failed" && acted.act.isForAll) throw acted.error;
  const freed = acted.kind === "done";
  if (json) printer.json({ lcid, holder, freed });
  else if (freed) printer.out(`the lane of ${lcid} is free`);
  if (acted.kind === "failed") throw new FoundWrong(failureSays(acted.act));
}

function withTurnsLost(lane: LaneReport): LaneReport & { readonly turnsLost: number } {
  return { ...lane, turnsLost: turnsLost(lane) };
}

function rowOf(lane: LaneReport): readonly Cell[] {
  return [lane.lcid, lane.depth, lane.seats, lane.holder, leaseLeft(lane), turnsLost(lane)];
}

/** For people; null when nobody holds the lane. */
export function leaseLeft({ holder, leaseLeftMs }: LaneReport): string | null {
  return holder === null ? null : lasting(leaseLeftMs);
}

function print(printer: Printer, lane: LaneInFull, { skip }: { readonly skip: number }): void {
  const { lcid, depth, holder, seats, outcomes, consistent, line, leftOutcomes } = lane;
  printer.facts([
    ["order", lcid],
    ["requests", depth],
    ["jobs waiting", seats],
    ["holder", holder ?? "nobody"],
    ["lease left", leaseLeft(lane)],
    ["turns lost in a row", turnsLost(lane)],
    ["outcomes nobody came for", outcomes],
  ]);
  if (!consistent) printer.out("\nits line and its bodies do not match: the next step on it mends that");
  const nowMs = Date.now();
  if (line.length > 0) {
    printer.out("");
    printer.table(
      ["place", "age", "type", "source", "id", "job", { cuttable: "request key" }],
      line.map(({ place, key, event, publishedAtMs, seated }) => [
        place,
        publishedAtMs === null ? null : lasting(Math.max(0, nowMs - publishedAtMs)),
        event?.type ?? "unreadable",
        event?.source ?? null,
        event?.id ?? null,
        seated ? "waits" : null,
        key,
      ]),
    );
    if (skip + line.length < depth) {
      printer.note(`places ${skip + 1} to ${skip + line.length} of ${depth}; see --skip and --limit`);
    }
  }
  if (leftOutcomes.length > 0) {
    printer.out("");
    printer.table(
      ["outcome nobody came for", "since", { cuttable: "request key" }],
      leftOutcomes.map(({ value, leftAtMs, key }) => [value, new Date(leftAtMs), key]),
    );
    if (leftOutcomes.length < outcomes) printer.note(`only ${leftOutcomes.length} of ${outcomes} outcomes`);
  }
}
