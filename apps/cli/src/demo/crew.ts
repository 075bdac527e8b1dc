import { fileURLToPath } from "node:url";
import { type ProcessTree, startProcess } from "@junban/sandbox";
import { LEASE_SETTINGS } from "./lease.ts";

/** One worker process, as people see it. */
export interface CrewMember {
  /** Counted from 1 in the order of starting. */
  readonly number: number;
  readonly pid: number;
  readonly state: "at work" | "killed" | "ended";
}

/** Thrown when a worker ends although nobody asked it to. */
export class WorkerEndedError extends Error {
  readonly code = "WORKER_ENDED";

  constructor({ number, pid, how, output }: { number: number; pid: number; how: string; output: string }) {
    super(`worker ${number} (pid ${pid}) ended by itself (${how}):\n${output}`.trimEnd());
    this.name = "WorkerEndedError";
  }
}

export interface CrewOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
  /** Told once for each worker that ends by itself. */
  readonly onTrouble: (error: WorkerEndedError) => void;
}

const READY_WITHIN_MS = 60_000;
const GRACE_MS = 5_000;
/** A worker that is slow to end has this long in all before it is killed. */
const STOP_WITHIN_MS = GRACE_MS + 3_000;
const TAIL_LINES = 15;

interface Position {
  readonly number: number;
  readonly tree: ProcessTree;
  state: CrewMember["state"];
}

/**
 * The worker processes: real ones, each with a port of its own. They run the program of `npm run worker`, but as the demo
 * itself runs: from the sources through tsx, where `npm run worker` takes what was compiled.
 */
export class Crew {
  readonly #options: CrewOptions;
  readonly #positions: Position[] = [];
  #started = 0;
  #stopping = false;

  constructor(options: CrewOptions) {
    this.#options = options;
  }

  get members(): readonly CrewMember[] {
    return this.#positions.map((position) => memberOf(position));
  }

  get atWork(): number {
    return this.#positions.filter(({ state }) => state === "at work").length;
  }

  /** The member that wrote a row, by the name that workers sign with: host, pid and a random part. */
  signedBy(worker: string): CrewMember | undefined {
    return this.members.find(({ pid }) => worker.split(":").includes(String(pid)));
  }

  /** Resolves when the new worker says that it is ready. */
  async start(): Promise<CrewMember> {
    this.#started += 1;
    const number = this.#started;
    const tree = await startProcess({
      command: process.execPath,
      // Run as this process is run: from the sources with their loader, or compiled.
      args: [...process.execArgv, workerProgram()],
      env: this.#environment(),
    });
    const position: Position = { number, tree, state: "at work" };
    this.#positions.push(position);
    void this.#watch(position);
    if (this.#stopping) await this.#end(position);
    else await tree.waitForLine(/"the worker serves"/u, { withinMs: READY_WITHIN_MS });
    return memberOf(position);
  }

  /** SIGKILL: no goodbye, nothing handed over. Resolves when the process is gone. */
  async kill({ number }: CrewMember): Promise<void> {
    const position = this.#positions.find((candidate) => candidate.number === number);
    if (position === undefined || position.state !== "at work") return;
    position.state = "killed";
    position.tree.signal("SIGKILL");
    await position.tree.exited;
    await position.tree.stop();
  }

  /** Asks everybody to end and waits until all are gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#positions.map(async (position) => this.#end(position)));
  }

  async #end(position: Position): Promise<void> {
    if (position.state === "at work") position.state = "ended";
    await position.tree.stop({ signal: "SIGTERM", graceMs: STOP_WITHIN_MS });
  }

  async #watch(position: Position): Promise<void> {
    const { number, tree } = position;
    const { code, signal } = await tree.exited;
    if (position.state !== "at work") return;
    position.state = "ended";
    const output = `${tree.stdout()}\n${tree.stderr()}`.trim().split("\n").slice(-TAIL_LINES).join("\n");
    const how = signal ?? `exit code ${code}`;
    this.#options.onTrouble(new WorkerEndedError({ number, pid: tree.pid, how, output }));
  }

  #environment(): NodeJS.ProcessEnv {
    const { databaseUrl, redisUrl, prefix } = this.#options;
    // Settings of the person's own fleet must not leak into the demo's.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("JUNBAN_"));
    return {
      ...Object.fromEntries(inherited),
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      LOG_LEVEL: "info",
      JUNBAN_PREFIX: prefix,
      ...LEASE_SETTINGS,
      JUNBAN_SHUTDOWN_GRACE_MS: String(GRACE_MS),
      JUNBAN_HTTP_PORT: "0",
    };
  }
}

function memberOf({ number, tree, state }: Position): CrewMember {
  return { number, pid: tree.pid, state };
}

function workerProgram(): string {
  const program = import.meta.url.endsWith(".ts") ? "src/main.ts" : "dist/main.js";
  return fileURLToPath(new URL(`../../../worker/${program}`, import.meta.url));
}
