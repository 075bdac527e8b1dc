import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { addAbortSignal, type Readable } from "node:stream";
import { printable } from "@junban/operations";
import { withSetting, type Registration, type Setting } from "../command.ts";
import { durationMs } from "../duration.ts";
import { FoundWrong, UsageError } from "../exit.ts";
import { fileLines } from "../file-lines.ts";
import { count, counted } from "../printing.ts";
import {
  LinePublisher,
  type LineNotice,
  type PublishObserver,
  type PublishReport,
} from "../publish-lines.ts";

/** Longer lines are never read whole: an event has 65,536 bytes at most, and JSON may escape each of them. */
const MAX_LINE_BYTES = 1_048_576;

interface Options {
  readonly json?: true;
  readonly patience: string;
}

export function registerPublish({ program, env }: Registration): void {
  program
    .command("publish")
    .description("publish a file of events, one JSON envelope a line; keeps the file's order per lcid")
    .argument("<file>", "path of the file, or - for standard input")
    .option(
      "--patience <duration>",
      "how long to wait for a full lane that does not move, or for Redis",
      "60s",
    )
    .option("--json", "print one JSON document at the end")
    .addHelpText(
      "after",
      "\nRefused lines are reported as `line N: REASON` and do not stop the others. Publishing a file again is harmless.\n" +
        "Example: junban publish events.ndjson && junban wait-idle",
    )
    .action(async (file: string, options: Options) => {
      const patienceMs = durationMs(options.patience);
      await withSetting({ env, need: ["redis"], reach: false }, (setting) =>
        publishFile(setting, { file, patienceMs, json: options.json === true }),
      );
    });
}

async function publishFile(
  { services, printer, signal }: Setting,
  { file, patienceMs, json }: { file: string; patienceMs: number; json: boolean },
): Promise<void> {
  // Also while it waits for a line that nobody writes.
  const input = addAbortSignal(signal, await openInput(file));
  const startedAtMs = performance.now();
  const refusedLines: LineNotice[] = [];
  const observer: PublishObserver = {
    notice: (notice) => {
      if (json && notice.kind === "refused") refusedLines.push(notice);
      const doomed = notice.kind === "doomed" ? "accepted, but will be rejected: " : "";
      // Whoever asked for a document gets nothing else on standard output.
      const line = `line ${notice.line}: ${doomed}${printable(notice.reason)}`;
      if (json) printer.note(line);
      else printer.out(line);
    },
    progress: (so) => printer.progress(`${counted(so.lines, "line")} read, ${count(so.published)} published`),
    waiting: (why) => printer.progress(`waiting: ${printable(why)}`),
  };
  const lines = new LinePublisher({
    publisher: services.publisher(),
    limits: { patienceMs },
    signal,
    observer,
  });
  const stopped = await lines.publish(fileLines(input, { maxBytes: MAX_LINE_BYTES })).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  const failure = signal.aborted ? new FoundWrong("interrupted") : stopped;
  const { report } = lines;
  const seconds = (performance.now() - startedAtMs) / 1_000;
  printer.endProgress();
  if (json) {
    printer.json({
      ...report,
      refusedLines: refusedLines.map(({ line, reason }) => ({ line, reason })),
      seconds,
    });
  } else {
    printer.out(summary(report, seconds));
  }
  if (failure !== null) {
    printer.note(
      `all up to line ${report.throughLine} is accounted for; publishing the file again is harmless`,
    );
    throw failure;
  }
  if (report.refused > 0) throw new FoundWrong("");
}

function summary({ published, refused, doomed, lines }: PublishReport, seconds: number): string {
  const rejected = doomed > 0 ? `, ${count(doomed)} of the published will be rejected` : "";
  return `${count(published)} published, ${count(refused)} refused${rejected} (${counted(lines, "line")}, ${seconds.toFixed(1)} s)`;
}

async function openInput(file: string): Promise<Readable> {
  if (file === "-") return process.stdin;
  const found = await stat(file).catch(() => null);
  if (found === null) throw new UsageError(`there is no file ${printable(file)}`);
  if (found.isDirectory()) {
    throw new UsageError(
      `${printable(file)} is a folder; publish takes a file of events, one JSON envelope a line`,
    );
  }
  return createReadStream(file, { highWaterMark: 262_144 });
}
