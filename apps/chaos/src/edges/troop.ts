import { startProcess, type ProcessTree } from "@junban/sandbox";
import type { Doom } from "../flow/publisher-process.ts";

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
const ANSWERS_WITHIN_MS = 2_000;

/** What a member answers on its health port, whatever the status; null when it does not answer. */
export async function ask({ told }: Member, path: string): Promise<string | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${String(told["httpPort"])}${path}`, {
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    return await answer.text();
  } catch {
    return null;
  }
}

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

  /** One more than there are in calm weather, which is hit the way the doom says. */
  async join(doom: Doom): Promise<Member> {
    const member = await this.#start(doom);
    this.#members = [...this.#members, member];
    return member;
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

  async #start(doom?: Doom): Promise<Member> {
    const { program, env, servesWhen } = this.#options;
    const tree = await startProcess({
      command: process.execPath,
      args: doom === undefined ? [program] : ["--import", doom.preload, program],
      env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", ...env, ...doom?.env },
    });
    const line = await tree.waitForLine(servesWhen, { withinMs: SERVES_WITHIN_MS });
    return { tree, told: JSON.parse(line) as Record<string, unknown> };
  }
}
