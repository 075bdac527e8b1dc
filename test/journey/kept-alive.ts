import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess, type ProcessExit, type ProcessTree } from "@junban/sandbox";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WITHIN_MS = 60_000;

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
  readonly #ends: ProcessExit[] = [];
  #tree: ProcessTree | undefined;
  #line = "";

  constructor(options: KeptAliveOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** How its processes have ended so far. */
  get ends(): readonly ProcessExit[] {
    return this.#ends;
  }

  /** The line by which the present process said that it serves. */
  get line(): string {
    return this.#line;
  }

  async start(): Promise<void> {
    const { program, env, runsWhen } = this.#options;
    this.#tree = await startProcess({
      command: process.execPath,
      args: ["--import", "tsx", "--conditions", "@junban/source", join(ROOT, program)],
      env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", ...env },
      cwd: ROOT,
    });
    void this.#tree.exited.then((end) => this.#ends.push(end));
    this.#line = await this.waitForLine(runsWhen);
  }

  /** Waits for a line of the present process. */
  async waitForLine(line: string): Promise<string> {
    if (this.#tree === undefined) throw new Error(`${this.name} was not started`);
    return this.#tree.waitForLine(line, { withinMs: WITHIN_MS });
  }

  async killAndRestart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** At once, without a word. */
  async stop(): Promise<void> {
    await this.#tree?.stop({ signal: "SIGKILL" });
  }
}
