import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { EventEnvelope } from "@junban/orders";
import { unlessAborted } from "@junban/trial";
import type { Call, CallAnswer } from "./call.ts";

const PROGRAM = fileURLToPath(new URL("publisher.process.js", import.meta.url));

/** A module and settings for the next life of a process that is to be hit. */
export interface Doom {
  readonly preload: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Thrown when a process that was to be hit at a moment of its own telling ended in another way. */
class MissedMomentError extends Error {
  readonly code = "MISSED_MOMENT";

  constructor({ output }: { output: string }) {
    super(`a publisher ended before the moment at which it was to be hit: ${output || "it said nothing"}`);
    this.name = "MissedMomentError";
  }
}

const DOOMED_WITHIN_MS = 30_000;

/** One life of a publishing process. */
class Life {
  readonly ended: Promise<null>;
  /** What it wrote to its standard error. */
  output = "";
  readonly #child: ChildProcess;
  readonly #answers = new Map<number, (refusals: readonly (string | null)[]) => void>();
  #calls = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.ended = once(child, "exit").then(() => null);
    child.stderr?.on("data", (chunk: Buffer) => (this.output += chunk.toString()));
    child.on("message", ({ number, refusals }: CallAnswer) => {
      this.#answers.get(number)?.(refusals);
      this.#answers.delete(number);
    });
  }

  /** Null when the process ended before it answered. */
  async publishAll(events: readonly EventEnvelope[]): Promise<readonly (string | null)[] | null> {
    this.#calls += 1;
    const number = this.#calls;
    const answer = new Promise<readonly (string | null)[]>((resolve) => this.#answers.set(number, resolve));
    // A process that is gone has no ear; its end says so.
    this.#child.send({ number, events } satisfies Call, () => undefined);
    return Promise.race([answer, this.ended]);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}

/**
 * A publishing process and its successors: when one dies the next takes its place, and what it had not acknowledged stays
 * unacknowledged.
 */
export class PublisherProcess {
  readonly #env: NodeJS.ProcessEnv;
  #life: Life | null = null;
  #isClosed = false;

  constructor(env: { readonly REDIS_URL: string; readonly JUNBAN_PREFIX: string }) {
    this.#env = { PATH: process.env["PATH"], ...env };
  }

  /** For each event why it was not acknowledged; null when it was. `DIED`: the process ended before it answered. */
  async publishAll(events: readonly EventEnvelope[]): Promise<readonly (string | null)[]> {
    const died = events.map(() => "DIED");
    if (this.#isClosed || events.length === 0) return died;
    this.#life ??= this.#begin();
    const life = this.#life;
    const refusals = await life.publishAll(events);
    if (refusals === null && this.#life === life) this.#life = null;
    return refusals ?? died;
  }

  /**
   * Puts a process in place that ends the way the doom says. Resolves when it has ended and its successor, which was started
   * beside it, is in place: how long a process takes to start is not what a fault run asks.
   * @throws {MissedMomentError} when it ended in another way
   */
  async doom(doom: Doom, signal: AbortSignal): Promise<void> {
    const before = this.#life;
    const life = this.#begin(doom);
    const successor = this.#begin();
    this.#life = life;
    await before?.kill();
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(DOOMED_WITHIN_MS)]);
    try {
      await unlessAborted(life.ended, inTime);
    } finally {
      this.#life = successor;
    }
    // Anything else that ends it is not the point at which it was to be hit.
    if (!life.output.includes('{"chaos":')) throw new MissedMomentError({ output: life.output });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#life?.kill();
  }

  #begin(doom?: Doom): Life {
    const child = fork(PROGRAM, {
      env: { ...this.#env, ...doom?.env },
      execArgv: doom === undefined ? [] : ["--import", doom.preload],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    return new Life(child);
  }
}
