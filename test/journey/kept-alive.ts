import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess, type ProcessTree } from "@junban/sandbox";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STARTED_WITHIN_MS = 60_000;

export interface KeptAliveOptions {
  readonly name: string;
  /** Below the checkout. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** The line by which it says that it serves. */
  readonly runsWhen: string;
}

/** A process that is started again whenever it was killed, as a supervisor would. */
export class KeptAlive {
  readonly name: string;
  readonly #options: KeptAliveOptions;
  #tree: ProcessTree | undefined;
  #line = "";
  #kills = 0;

  constructor(options: KeptAliveOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get kills(): number {
    return this.#kills;
  }

  /** The line by which the present process said that it serves. */
  get line(): string {
    return this.#line;
  }

  /** What the present process has said so far. */
  get said(): string {
    return `${this.#tree?.stdout() ?? ""}${this.#tree?.stderr() ?? ""}`;
  }

  async start(): Promise<void> {
    const { program, env, runsWhen } = this.#options;
    this.#tree = await startProcess({
      command: process.execPath,
      args: ["--import", "tsx", "--conditions", "@junban/source", join(ROOT, program)],
      env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", ...env },
      cwd: ROOT,
    });
    this.#line = await this.#tree.waitForLine(runsWhen, { withinMs: STARTED_WITHIN_MS });
  }

  async killAndRestart(): Promise<void> {
    this.#kills += 1;
    await this.stop();
    await this.start();
  }

  /** At once, without a word. */
  async stop(): Promise<void> {
    await this.#tree?.stop({ signal: "SIGKILL" });
  }
}
