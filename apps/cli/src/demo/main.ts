/**
 * The demo: throwaway servers, real workers, a stream of order events, a worker killed in the middle of it, and a check of
 * every order at the end. For people who see Junban for the first time, and for scripts through `--json`.
 */
import { isMissingServer } from "@junban/sandbox";
import { EXIT } from "@junban/service";
import { InterruptedError, isGood } from "@junban/trial";
import { endingOf, type Ending } from "../exit.ts";
import { drainedLines, furtherLines, keepHint } from "./further.ts";
import { readDemoOptions, type DemoOptions } from "./options.ts";
import { painterFor, type Line } from "./paint.ts";
import { Run } from "./run.ts";
import type { View } from "./scene.ts";
import { onStage, type Stage } from "./stage.ts";
import { jsonOf, summaryLines } from "./summary.ts";
import { createLiveView } from "./view-live.ts";
import { createPlainView } from "./view-plain.ts";

const PUBLISHERS = 4;
/** Longer lines are hard to read, however wide the window is. */
const WIDEST = 100;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function demonstrate(demo: DemoOptions, curtain: AbortController): Promise<number> {
  const stream = demo.json ? process.stderr : process.stdout;
  const columns = stream.isTTY && stream.columns > 0 ? Math.min(stream.columns, WIDEST) : WIDEST;
  const startedAtMs = performance.now();
  const view = viewOn(stream, startedAtMs);
  const { signal } = curtain;
  let kept: Stage | null = null;
  // Taking down takes seconds, in which nothing else would be seen.
  signal.addEventListener("abort", () => view.note("the end: taking everything down"), { once: true });
  try {
    return await onStage(
      {
        workers: demo.workers,
        publishers: PUBLISHERS,
        signal,
        say: (line) => view.note(line),
        onTrouble: (error) => {
          // Somebody who looks round drained it.
          if (kept !== null && error.exitCode === 0) print(stream, drainedLines(error, kept.crew.atWork));
          else curtain.abort(error);
        },
      },
      async (stage) => {
        const run = new Run({ demo, stage, view, signal, startedAtMs });
        const report = await run.play();
        view.end();
        print(stream, summaryLines(report, columns));
        if (demo.json) process.stdout.write(`${JSON.stringify(jsonOf(report))}\n`);
        const [event] = run.hotLane.events;
        if (event !== undefined && demo.keep) {
          print(stream, furtherLines(stage.servers, event));
          kept = stage;
          await interruption(signal);
        } else if (event !== undefined) {
          print(stream, keepHint(event, columns));
        }
        return isGood(report.verdict) ? EXIT.done : EXIT.wrong;
      },
    );
  } finally {
    view.end();
  }
}

function viewOn(stream: NodeJS.WriteStream, startedAtMs: number): View {
  // A terminal that does not know its own width cannot be drawn on.
  const isLive = stream.isTTY && stream.columns > 0 && process.env["TERM"] !== "dumb";
  return isLive ? createLiveView(stream, startedAtMs) : createPlainView(stream, startedAtMs);
}

function print(stream: NodeJS.WriteStream, lines: readonly Line[]): void {
  const paint = painterFor(stream);
  stream.write(`${lines.map((line) => paint(line)).join("\n")}\n`);
}

/** Resolves on Ctrl-C and its like; rejects when the run was ended by trouble. */
async function interruption(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  if (!(signal.reason instanceof InterruptedError)) throw signal.reason;
}

function demoEnding(error: unknown): Ending {
  if (error instanceof InterruptedError) {
    // Whoever closed the pipe has read what it wanted.
    return { code: error.exitCode, lines: error.signal === "SIGPIPE" ? [] : [error.message] };
  }
  if (isMissingServer(error)) return { code: EXIT.unreachable, lines: [error.message] };
  return endingOf(error, { redis: "the demo's own address", postgres: "the demo's own address" });
}

async function main(): Promise<number> {
  const curtain = new AbortController();
  for (const name of SIGNALS) {
    // Also the second time: taking down is under way and bounded, and half of it would leave things behind.
    process.on(name, () => curtain.abort(new InterruptedError(name)));
  }
  for (const stream of [process.stdout, process.stderr]) {
    // Node ignores the signal of a closed pipe (`| head`) and reports each write into it as an error instead.
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      curtain.abort(new InterruptedError("SIGPIPE"));
    });
  }
  try {
    return await demonstrate(readDemoOptions(process.argv.slice(2)), curtain);
  } catch (error) {
    // What fails after Ctrl-C, fails because of it.
    const ending = demoEnding(curtain.signal.aborted ? curtain.signal.reason : error);
    for (const line of ending.lines) process.stderr.write(`${line}\n`);
    return ending.code;
  }
}

process.exitCode = await main();
