import { type LineMatcher, type ProcessExit, type ProcessTree, startProcess } from "@junban/sandbox";
import { ForeignMemberError, WorkerEndedError } from "./errors.ts";

/** One worker process, as people see it. */
export interface CrewMember {
  /** Counted from 1 in the order of starting. */
  readonly number: number;
  readonly pid: number;
  /** `frozen`: stopped by SIGSTOP. `doomed`: at work, and expected to end by itself. */
  readonly state: "at work" | "frozen" | "doomed" | "killed" | "ended";
}

export interface CrewOptions {
  /** The worker's program, run as this process is run: from the sources with their loader, or compiled. */
  readonly program: string;
  /** What the worker of this number reads; nothing of the `JUNBAN_` settings of whoever runs this comes through beside it. */
  readonly environmentOf: (number: number) => NodeJS.ProcessEnv;
  /** Told once for each worker that ends by itself and was not meant to. */
  readonly onTrouble: (error: WorkerEndedError) => void;
}

export interface StartOptions {
  /** Modules that the worker loads before its own program. Default: none. */
  readonly preload?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Its end is no trouble: it was started to come to one. Default false. */
  readonly doomed?: boolean;
}

/** As `npm run worker` starts one: V8 reads this only when the process starts. */
const NODE_FLAGS = ["--max-semi-space-size=64"];
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

/** Worker processes: real ones, each with a port of its own, in process groups of their own. */
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
  async start({ preload = [], env = {}, doomed = false }: StartOptions = {}): Promise<CrewMember> {
    this.#started += 1;
    const number = this.#started;
    const tree = await startProcess({
      command: process.execPath,
      args: [
        ...process.execArgv,
        ...NODE_FLAGS,
        ...preload.flatMap((file) => ["--import", file]),
        this.#options.program,
      ],
      env: { ...this.#environment(number), ...env },
    });
    const position: Position = { number, tree, state: doomed ? "doomed" : "at work" };
    this.#positions.push(position);
    void this.#watch(position);
    if (this.#stopping) await this.#end(position);
    else await tree.waitForLine(/"the worker serves"/u, { withinMs: READY_WITHIN_MS });
    return memberOf(position);
  }

  /** SIGKILL: no goodbye, nothing handed over. Resolves when the process is gone. */
  async kill(member: CrewMember): Promise<void> {
    const position = this.#positionOf(member);
    if (position.state === "killed" || position.state === "ended") return;
    position.state = "killed";
    position.tree.signal("SIGKILL");
    await position.tree.exited;
    await position.tree.stop();
  }

  /** SIGSTOP: it holds what it holds and does nothing, until `resume`. */
  freeze(member: CrewMember): void {
    const position = this.#positionOf(member);
    if (position.state !== "at work") return;
    position.state = "frozen";
    position.tree.signal("SIGSTOP");
  }

  resume(member: CrewMember): void {
    const position = this.#positionOf(member);
    if (position.state !== "frozen") return;
    position.state = "at work";
    position.tree.signal("SIGCONT");
  }

  /** SIGTERM, as a supervisor sends it. Resolves to how the process ended, which is for the caller to judge. */
  async dismiss(member: CrewMember): Promise<ProcessExit> {
    const position = this.#positionOf(member);
    await this.#end(position);
    return position.tree.exited;
  }

  /** How a worker ended. Resolves when it has. */
  async endOf(member: CrewMember): Promise<ProcessExit> {
    return this.#positionOf(member).tree.exited;
  }

  /** A line that a worker wrote, earlier ones included. @throws {DeadlineError | ProcessEndedError} */
  async waitForLine(
    member: CrewMember,
    matcher: LineMatcher,
    options: { readonly withinMs: number },
  ): Promise<string> {
    return this.#positionOf(member).tree.waitForLine(matcher, options);
  }

  /** Asks everybody to end and waits until all are gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#positions.map(async (position) => this.#end(position)));
  }

  #positionOf({ number }: CrewMember): Position {
    const position = this.#positions[number - 1];
    if (position === undefined) throw new ForeignMemberError({ number });
    return position;
  }

  async #end(position: Position): Promise<void> {
    if (position.state !== "killed") position.state = "ended";
    await position.tree.stop({ signal: "SIGTERM", graceMs: STOP_WITHIN_MS });
  }

  async #watch(position: Position): Promise<void> {
    const { number, tree } = position;
    const { code, signal } = await tree.exited;
    const { state } = position;
    if (state === "killed" || state === "ended") return;
    position.state = "ended";
    if (state === "doomed") return;
    const output = outputOf(tree).split("\n").slice(-TAIL_LINES).join("\n");
    const how = signal ?? `exit code ${code}`;
    this.#options.onTrouble(new WorkerEndedError({ number, pid: tree.pid, exitCode: code, how, output }));
  }

  #environment(number: number): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("JUNBAN_"));
    return {
      ...Object.fromEntries(inherited),
      LOG_LEVEL: "info",
      JUNBAN_SHUTDOWN_GRACE_MS: String(GRACE_MS),
      JUNBAN_HTTP_PORT: "0",
      // What is stored is looked at afterwards, and the outbox with it; who wants it passed on says so.
      JUNBAN_RELAY: "off",
      ...this.#options.environmentOf(number),
    };
  }
}

function memberOf({ number, tree, state }: Position): CrewMember {
  return { number, pid: tree.pid, state };
}

function outputOf(tree: ProcessTree): string {
  return `${tree.stdout()}\n${tree.stderr()}`.trim();
}
