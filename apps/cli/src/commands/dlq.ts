import type { DeadJob } from "@junban/event-queues";
import { printable } from "@junban/operations";
import type { DeadLetter } from "@junban/order-store";
import { excerptOf } from "@junban/orders";
import type { Command } from "commander";
import { withSetting, type Registration } from "../command.ts";
import { agree } from "../confirm.ts";
import { ALL_LIMIT, allOf, dropOne, each, JOB_SOURCE, noteReasons, replayOne } from "../dead-letters.ts";
import { FoundWrong, UsageError } from "../exit.ts";
import { NotedActs } from "../noted.ts";
import { counted, type Printer } from "../printing.ts";
import { wholeNumber } from "../whole-number.ts";

export function registerDlq({ program, env }: Registration): void {
  const dlq = registerList({ program, env });
  registerReplay({ program: dlq, env });
  registerDrop({ program: dlq, env });
}

interface ListOptions {
  reason?: string;
  failed?: true;
  alerts?: true;
  limit: string;
  json?: true;
}

function registerList({ program, env }: Registration): Command {
  return program
    .command("dlq")
    .description("dead letters: failed and rejected events, and jobs that hold no usable event, newest first")
    .option("--reason <reason>", "only those with this reason")
    .option("--failed", "only failed ones, which halt their order")
    .option("--alerts", "only rejected ones that alert: they happened all the same")
    .option("--limit <n>", "at most so many of each", "50")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban dlq --failed")
    .action(async (options: ListOptions) => {
      const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: ALL_LIMIT });
      const { reason, failed, alerts } = options;
      if (failed === true && alerts === true) {
        throw new UsageError("a failed event has no alert: it is --failed or --alerts");
      }
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        const { services, printer } = setting;
        const events = await services.store().listDead({
          limit,
          ...(reason === undefined ? {} : { reason }),
          ...(failed === undefined ? {} : { outcome: "failed" as const }),
          ...(alerts === undefined ? {} : { outcome: "alerting" as const }),
        });
        const isOfEvents = reason !== undefined || alerts === true;
        const jobs = isOfEvents ? [] : await services.queues().deadJobs(limit);
        if (options.json === true) return printer.json({ events, jobs: jobs.map(withExcerpt) });
        if (events.length + jobs.length === 0) {
          printer.out(alerts === true ? "no open alerts" : "no dead letters");
          if (reason !== undefined) await noteReasons(setting);
          return;
        }
        list(printer, events, jobs);
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
    .option("--yes", "with --all: do not ask")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban dlq replay /payments evt-81")
    .action(
      async (
        source: string | undefined,
        ids: string[],
        options: { all?: true; reason?: string; limit: string; yes?: true; json?: true },
      ) => {
        const { reason } = options;
        const limit = wholeNumber(options.limit, { name: "--limit", min: 1, max: ALL_LIMIT });
        const named = (source === undefined ? [] : ids).map((id) => ({ source: source ?? "", id }));
        if ((options.all === true) === named.length > 0) {
          throw new UsageError("name a source and ids to replay, or say --all");
        }
        if (options.all !== true && reason !== undefined) {
          throw new UsageError(
            "--reason chooses among --all; an event that is named is replayed whatever its reason",
          );
        }
        await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
          const { identities, areMore } =
            options.all === true
              ? await allOf(setting, { reason, limit })
              : { identities: named, areMore: false };
          if (reason !== undefined && identities.length === 0) {
            await noteReasons(setting);
            if (options.json === true) setting.printer.json({ replayed: 0, results: [] });
            throw new FoundWrong(`no dead letter has the reason ${printable(reason)}`);
          }
          if (areMore) setting.printer.note(`there are more than ${limit}; run it again for the rest`);
          if (options.all === true && identities.length > 0) {
            await agree(process, {
              says:
                `This decides ${counted(identities.length, "event")} again, each in its place, and after failed ones ` +
                "what they blocked. What is applied stays applied.",
              yes: options.yes === true,
              isGrave: true,
              signal: setting.signal,
            });
          }
          const acts = new NotedActs(setting);
          await each(setting, identities, {
            word: "replayed",
            json: options.json === true,
            act: (identity) => replayOne(setting, acts, identity),
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
    .argument("<id>", "its id")
    .option("--reason <reason>", "why; kept with the event")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON document")
    .addHelpText("after", '\nExample: junban dlq drop /payments evt-81 --reason "refunded by hand"')
    .action(async (source: string, id: string, options: { reason?: string; yes?: true; json?: true }) => {
      const { reason } = options;
      if (reason === undefined || reason.trim() === "") {
        throw new UsageError("dlq drop needs --reason, which is kept with the event");
      }
      const isJob = source.startsWith(JOB_SOURCE);
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        await agree(process, {
          says: isJob
            ? `This deletes the job ${id} of ${source.slice(JOB_SOURCE.length)} for good, with what it carries.`
            : `This gives the event ${id} of ${source} up where it failed or is held: what it blocked is decided then, and replaying ` +
              "it later comes behind that. Where it was rejected, its open alert is acknowledged, and nothing else. Your reason is kept.",
          yes: options.yes === true,
          isGrave: isJob,
          signal: setting.signal,
        });
        const acts = new NotedActs(setting);
        await each(setting, [{ source, id }], {
          word: "dropped",
          json: options.json === true,
          act: (identity) => dropOne(setting, acts, { ...identity, reason }),
        });
      });
    });
}

/** What a job carries may be anything of any size; people need to recognise it. */
function withExcerpt({ text, ...job }: DeadJob): Omit<DeadJob, "text"> & { readonly excerpt: string } {
  return { ...job, excerpt: excerptOf(text) };
}

function list(printer: Printer, events: readonly DeadLetter[], jobs: readonly DeadJob[]): void {
  if (events.length > 0) {
    const rows = events.map((event) => [
      event.outcome,
      event.lcid,
      event.type,
      event.source,
      event.id,
      event.reason,
      event.alert ? "open" : null,
      event.detail,
      event.decidedAt,
    ]);
    printer.table(
      ["outcome", "order", "type", "source", "id", "reason", "alert", { cuttable: "detail" }, "decided"],
      rows,
    );
  }
  if (events.length > 0 && jobs.length > 0) printer.out("");
  if (jobs.length > 0) {
    const rows = jobs.map((job) => [
      `${JOB_SOURCE}${job.family}`,
      job.id,
      job.reason,
      new Date(job.failedAtMs),
    ]);
    printer.table(["job", "id", { cuttable: "reason" }, "failed"], rows);
  }
}
