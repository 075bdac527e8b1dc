import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ProcessEndedError, SpawnError } from "./errors.ts";
import { startKeeper } from "./keeper.ts";
import { LineLog, type LineMatcher } from "./line-log.ts";
import { type ProcessRow, listProcesses, signalProcess, stillRunning, treeMembers } from "./process-table.ts";
import { happensWithin, waitUntil } from "./waiting.ts";

export interface ProcessOptions {
  command: string;
  args?: readonly string[];
  /** The whole environment. Default: this process's own. */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Written to its standard input, which is then closed. Default: an empty one. */
  input?: string;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ProcessTree {
  /** The leading process, and the process group that it leads. */
  readonly pid: number;
  /** Lines of both outputs as they come, from the first one that is still kept. */
  readonly lines: AsyncIterable<string>;
  /** Fulfils when the leading process has ended and its output was read. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** What was written so far (the last 20000 lines of each output). */
  stdout(): string;
  stderr(): string;
  /** Waits for a line of either output, earlier ones included. Throws DeadlineError (default 30000 ms) or ProcessEndedError. */
  waitForLine(matcher: LineMatcher, options?: { withinMs?: number }): Promise<string>;
  /** SIGKILL, SIGSTOP and SIGCONT reach every member; other signals the leading process, as a supervisor would send them. */
  signal(name: NodeJS.Signals): void;
  /** How many processes of the tree run at the moment. */
  size(): number;
  /** Ends the whole tree and waits until every member is observed gone. Signal SIGTERM, SIGKILL after graceMs (default 10000). */
  stop(options?: { signal?: NodeJS.Signals; graceMs?: number }): Promise<ProcessExit>;
}

/** Members in other groups may be keepers (of a sandbox inside the tree), which ignore SIGTERM and still have work to do. */
const KEEPERS_MS = 10_000;
const KILL_BOUND_MS = 15_000;
/** A daemon that inherited the output would keep it open for ever. */
const OUTPUT_BOUND_MS = 1_000;

/** Starts a command in a process group of its own. It also ends when this process ends, however that happens. */
export async function startProcess(options: ProcessOptions): Promise<ProcessTree> {
  const { command, args = [], env = process.env, cwd, input } = options;
  const keeper = await startKeeper({ signal: "SIGKILL", graceMs: 0 });
  const child = spawn(command, args, {
    env,
    ...(cwd === undefined ? {} : { cwd }),
    detached: true,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (child.pid !== undefined) keeper.watch(child.pid);
  const started = new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(new SpawnError({ command }, { cause })));
  });
  try {
    await started;
  } catch (error) {
    keeper.release();
    throw error;
  }
  if (child.stdin !== null) {
    // A command that does not read its input to the end is no error of ours.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  }
  return new Tree(command, child, () => keeper.release());
}

class Tree implements ProcessTree {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  readonly #command: string;
  readonly #stdout = new LineLog();
  readonly #stderr = new LineLog();
  readonly #both = new LineLog();
  readonly #release: () => void;
  #hasExited = false;

  constructor(command: string, child: ChildProcess, release: () => void) {
    this.pid = child.pid ?? 0;
    this.#command = command;
    this.#release = release;
    const read = [this.#follow(child.stdout, this.#stdout), this.#follow(child.stderr, this.#stderr)];
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#hasExited = true;
        void this.#afterExit(read).then(() => resolve({ code, signal }));
      });
    });
  }

  get lines(): AsyncIterable<string> {
    return this.#both.read();
  }

  stdout(): string {
    return this.#stdout.text();
  }

  stderr(): string {
    return this.#stderr.text();
  }

  async waitForLine(
    matcher: LineMatcher,
    { withinMs = 30_000 }: { withinMs?: number } = {},
  ): Promise<string> {
    const line = await this.#both.waitFor(matcher, withinMs);
    if (line !== undefined) return line;
    const exit = await this.exited;
    throw new ProcessEndedError({ command: this.#command, ...exit, outputTail: this.#both.tail(20) });
  }

  signal(name: NodeJS.Signals): void {
    if (name === "SIGKILL" || name === "SIGSTOP" || name === "SIGCONT") {
      for (const member of treeMembers(this.pid)) signalProcess(member.pid, name);
      return;
    }
    if (!this.#hasExited) signalProcess(this.pid, name);
  }

  size(): number {
    return treeMembers(this.pid).length;
  }

  async stop(options: { signal?: NodeJS.Signals; graceMs?: number } = {}): Promise<ProcessExit> {
    const { signal = "SIGTERM", graceMs = 10_000 } = options;
    const known = new Map<number, ProcessRow>();
    const remaining = (): readonly ProcessRow[] => {
      const rows = listProcesses();
      for (const row of treeMembers(this.pid, rows)) known.set(row.pid, row);
      return stillRunning(known.values(), rows);
    };
    const isGone = (): boolean => remaining().length === 0;
    if (!isGone()) await this.#end({ signal, graceMs, isGone, remaining });
    const exit = await this.exited;
    this.#release();
    return exit;
  }

  async #end(options: {
    signal: NodeJS.Signals;
    graceMs: number;
    isGone: () => boolean;
    remaining: () => readonly ProcessRow[];
  }): Promise<void> {
    const { signal, graceMs, isGone, remaining } = options;
    const deadlineMs = performance.now() + graceMs;
    // A stopped process would sit on its signal until the grace is over.
    for (const row of remaining()) signalProcess(row.pid, "SIGCONT");
    this.signal(signal);
    await happensWithin(() => this.#hasExited, graceMs);
    // The leader is gone; members that it left behind get the same chance.
    if (this.#hasExited) signalProcess(-this.pid, signal);
    if (await happensWithin(isGone, Math.max(0, deadlineMs - performance.now()))) return;
    signalProcess(-this.pid, "SIGKILL");
    for (const row of remaining()) signalProcess(row.pid, "SIGTERM");
    if (await happensWithin(isGone, KEEPERS_MS)) return;
    for (const row of remaining()) signalProcess(row.pid, "SIGKILL");
    await waitUntil(isGone, { waitedFor: `the end of ${this.#command}`, withinMs: KILL_BOUND_MS });
  }

  async #follow(stream: Readable | null, log: LineLog): Promise<void> {
    if (stream === null) return;
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      log.add(line);
      this.#both.add(line);
    }
  }

  async #afterExit(read: readonly Promise<void>[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, OUTPUT_BOUND_MS);
    });
    await Promise.race([Promise.allSettled(read), bound]);
    clearTimeout(timer);
    this.#both.end();
    // Nothing of the group is left: its number may be given to somebody else, whom the keeper must not touch.
    if (treeMembers(this.pid).length === 0) this.#release();
  }
}
