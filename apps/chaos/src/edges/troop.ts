import { startProcess, type ProcessTree } from "@junban/sandbox";

export interface TroopOptions {
  /** A compiled program. */
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  /** Part of the line, a JSON document, by which a member says that it serves. */
  readonly servesWhen: string;
  /** How many there are in calm weather. */
  readonly size: number;
}

export interface Member {
  readonly tree: ProcessTree;
  /** The line by which it said that it serves. */
  readonly told: Readonly<Record<string, unknown>>;
}

const SERVES_WITHIN_MS = 60_000;

/** Processes of one kind at the edge of the fleet: each may be killed, and whoever is missing is started again. */
export class Troop {
  readonly #options: TroopOptions;
  #members: readonly Member[] = [];
  #isStopped = false;

  constructor(options: TroopOptions) {
    this.#options = options;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  async fill(): Promise<void> {
    while (!this.#isStopped && this.#members.length < this.#options.size) {
      this.#members = [...this.#members, await this.#start()];
    }
  }

  /** Resolves once it is gone. */
  async kill(member: Member): Promise<void> {
    this.#members = this.#members.filter((one) => one !== member);
    await member.tree.stop({ signal: "SIGKILL" });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#members.map(async ({ tree }) => tree.stop({ signal: "SIGKILL" })));
  }

  async #start(): Promise<Member> {
    const { program, env, servesWhen } = this.#options;
    const tree = await startProcess({
      command: process.execPath,
      args: [program],
      env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", ...env },
    });
    const line = await tree.waitForLine(servesWhen, { withinMs: SERVES_WITHIN_MS });
    return { tree, told: JSON.parse(line) as Record<string, unknown> };
  }
}
