import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Account } from "./accounts.ts";
import { NotRunningError, SpawnError } from "./errors.ts";
import type { Keeper } from "./keeper.ts";
import { type ProcessRow, listProcesses, signalProcess, stillRunning, treeMembers } from "./process-table.ts";
import { happensWithin, waitUntil } from "./waiting.ts";

export interface ServerCommand {
  name: string;
  file: string;
  args: readonly string[];
  /** What the binary sees as its own name; Redis' binary decides its role by it. */
  argv0?: string;
  folder: string;
  logPath: string;
  account?: Account | undefined;
}

/** How long a server gets that was killed, or that ignored its signal, until the kernel must have collected it. */
const KILL_BOUND_MS = 15_000;

/**
 * One server as a process that comes and goes while its folder and port stay.
 * Everything ends whole: an end is over when no process of the server is left, not when the first one has gone.
 */
export class ServerProcess {
  readonly #command: ServerCommand;
  readonly #keeper: Keeper;
  #child: ChildProcess | undefined;

  constructor(command: ServerCommand, keeper: Keeper) {
    this.#command = command;
    this.#keeper = keeper;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new NotRunningError({ what: this.#command.name });
    return pid;
  }

  get isRunning(): boolean {
    return this.#child?.pid !== undefined;
  }

  async start(): Promise<void> {
    const { file, args, argv0, folder, logPath, account } = this.#command;
    const log = openSync(logPath, "a");
    try {
      const child = spawn(file, args, {
        cwd: folder,
        // Nothing of ours: PG* variables and secrets of the caller are none of the server's business.
        env: { PATH: process.env["PATH"], LANG: "C", LC_ALL: "C", TZ: "UTC" },
        detached: true,
        stdio: ["ignore", log, log],
        ...(argv0 === undefined ? {} : { argv0 }),
        ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
      });
      if (child.pid !== undefined) this.#keeper.watch(child.pid);
      child.unref();
      this.#child = child;
      child.once("exit", () => this.#ended(child));
      await new Promise<void>((resolve, reject) => {
        child.once("spawn", resolve);
        child.once("error", (cause) => reject(new SpawnError({ command: file }, { cause })));
      });
    } finally {
      closeSync(log);
    }
  }

  /** Signals the leading process and waits until the whole server is gone; after `withinMs` it is killed. */
  async end(options: { signal: NodeJS.Signals; withinMs: number }): Promise<void> {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    const known = new Map<number, ProcessRow>();
    const remaining = (): readonly ProcessRow[] => {
      const rows = listProcesses();
      for (const row of treeMembers(pid, rows)) known.set(row.pid, row);
      return stillRunning(known.values(), rows);
    };
    this.#signalAll(remaining(), "SIGCONT");
    signalProcess(pid, options.signal);
    const isGone = (): boolean => remaining().length === 0 && !this.isRunning;
    if (await happensWithin(isGone, options.withinMs)) return;
    this.#signalAll(remaining(), "SIGKILL");
    await waitUntil(isGone, { waitedFor: `the end of ${this.#command.name}`, withinMs: KILL_BOUND_MS });
  }

  /** SIGKILL to every process of the server at once, as a machine that loses power would. */
  async kill(): Promise<void> {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    const members = this.#stopped(pid);
    this.#signalAll(members, "SIGKILL");
    await waitUntil(() => stillRunning(members).length === 0 && !this.isRunning, {
      waitedFor: `the end of ${this.#command.name}`,
      withinMs: KILL_BOUND_MS,
    });
  }

  /** Stops every process of the server without ending it: connections stay open, nothing answers. */
  freeze(): void {
    this.#stopped(this.pid);
  }

  resume(): void {
    this.#signalAll(treeMembers(this.pid), "SIGCONT");
  }

  async logTail(): Promise<string> {
    const text = await readFile(this.#command.logPath, "utf8").catch(() => "");
    return text.slice(-4_000);
  }

  /** The leader is stopped first, so that it cannot add a process behind the listing. */
  #stopped(pid: number): readonly ProcessRow[] {
    signalProcess(pid, "SIGSTOP");
    const members = treeMembers(pid);
    this.#signalAll(members, "SIGSTOP");
    return members;
  }

  #signalAll(members: readonly ProcessRow[], signal: NodeJS.Signals): void {
    for (const member of members) signalProcess(member.pid, signal);
  }

  #ended(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#keeper.forget();
  }
}
