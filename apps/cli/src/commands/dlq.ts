import type { DeadJob } from "@junban/event-queues";
import type { DeadLetter } from "@junban/order-store";
import { excerptOf } from "@junban/orders";
import type { Command } from "commander";
import { withSetting, type Registration } from "../command.ts";
import { ALL_LIMIT, allOf, dropOne, each, JOB_SOURCE, replayOne } from "../dead-letters.ts";
import { FoundWrong, UsageError } from "../exit.ts";
import { moment, table } from "../printing.ts";
import { wholeNumber } from "../whole-number.ts";

export function registerDlq({ program, env }: Registration): void {
  const dlq = registerList({ program, env });
  registerReplay({ program: dlq, env });
  registerDrop({ program: dlq, env });
}

function registerList({ program, env }: Registration): Command {
  return program
    .command("dlq")
    .description("dead letters: failed and rejected events, and jobs that hold no usable event, newest first")
    .option("--reason <reason>", "only those with this reason")
    .option("--failed", "only failed ones, which halt their order")
    .option("--limit <n>", "at most so many of each", "50")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban dlq replay /payments evt-81")
    .action(async (options: { reason?: string; failed?: true; limit: string; json?: true }) => {
      const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: ALL_LIMIT });
      await withSetting({ env, need: ["database", "redis"] }, async ({ services, printer }) => {
        const events = await services.store().listDead({
          limit,
          ...(options.reason === undefined ? {} : { reason: options.reason }),
          ...(options.failed === undefined ? {} : { outcome: "failed" as const }),
        });
        const jobs = options.reason === undefined ? await services.queues().deadJobs(limit) : [];
        if (options.json === true) return printer.json({ events, jobs: jobs.map(withExcerpt) });
        printer.out(listing(events, jobs));
        if (events.length === limit || jobs.length === limit) {
          printer.note(`only the newest ${limit} of each; see --limit`);
        }
      });
    });
}

function registerReplay({ program, env }: Registration): void {
  program
    .command("replay")
    .description("decide events again, each in its place; after a failed one also the events that it blocked")
    .argument("[source]", "the events' source, or job:FAMILY for a job")
    .argument("[id...]", "their ids")
    .option("--all", "every failed event; with --reason every failed or rejected event of that reason")
    .option("--reason <reason>", "with --all")
    .option("--limit <n>", "with --all: at most the newest so many; 1 if that leaves any", String(ALL_LIMIT))
    .option("--json", "print one JSON document")
    .action(
      async (
        source: string | undefined,
        ids: string[],
        options: { all?: true; reason?: string; limit: string; json?: true },
      ) => {
        const { reason } = options;
        const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: ALL_LIMIT });
        const named = (source === undefined ? [] : ids).map((id) => ({ source: source ?? "", id }));
        if ((options.all === true) === named.length > 0) {
          throw new UsageError("name a source and ids to replay, or say --all");
        }
        await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
          const { identities, areMore } =
            options.all === true
              ? await allOf(setting, { reason, limit })
              : { identities: named, areMore: false };
          if (areMore) setting.printer.note(`there are more than ${limit}; run it again for the rest`);
          await each(setting, identities, {
            word: "replayed",
            json: options.json === true,
            act: (identity) => replayOne(setting, identity),
          });
          if (areMore) throw new FoundWrong("");
        });
      },
    );
}

function registerDrop({ program, env }: Registration): void {
  program
    .command("drop")
    .description("give a failed or held event up for good, or acknowledge a rejected one's alert")
    .argument("<source>", "the event's source, or job:FAMILY for a job")
    .argument("<id>")
    .option("--reason <reason>", "why; kept with the event")
    .option("--json", "print one JSON document")
    .action(async (source: string, id: string, options: { reason?: string; json?: true }) => {
      const { reason } = options;
      if (reason === undefined || reason.trim() === "") {
        throw new UsageError("dlq drop needs --reason, which is kept with the event");
      }
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        await each(setting, [{ source, id }], {
          word: "dropped",
          json: options.json === true,
          act: (identity) => dropOne(setting, identity, reason),
        });
      });
    });
}

/** What a job carries may be anything of any size; people need to recognise it. */
function withExcerpt({ text, ...job }: DeadJob): Omit<DeadJob, "text"> & { readonly excerpt: string } {
  return { ...job, excerpt: excerptOf(text) };
}

function listing(events: readonly DeadLetter[], jobs: readonly DeadJob[]): string {
  const parts: string[] = [];
  if (events.length > 0) {
    const rows = events.map((event) => [
      event.outcome,
      event.lcid,
      event.type,
      event.source,
      event.id,
      event.reason,
      event.detail,
      moment(event.decidedAt),
    ]);
    parts.push(table(["outcome", "order", "type", "source", "id", "reason", "detail", "decided"], rows));
  }
  if (jobs.length > 0) {
    const rows = jobs.map((job) => [
      `${JOB_SOURCE}${job.family}`,
      job.id,
      job.reason,
      new Date(job.failedAtMs).toISOString(),
    ]);
    parts.push(table(["job", "id", "reason", "failed"], rows));
  }
  return parts.length === 0 ? "no dead letters" : parts.join("\n\n");
}
