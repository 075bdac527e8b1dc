import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RedisQueueBackend } from "bullmq";
import type { Redis } from "ioredis";
import type { CorkedWrites } from "./corked-writes.ts";
import type { EndsUnderWay } from "./ends-under-way.ts";

const COMPLETE_JOBS = readFileSync(new URL("../lua/complete-jobs.lua", import.meta.url), "utf8");

type Argument = string | number | Buffer;

/** What BullMQ calls its script with, behind the keys. */
type ScriptArguments = readonly [
  id: string,
  timestamp: number,
  field: string,
  value: string,
  target: string,
  fetchNext: number,
  prefix: string,
  packedOptions: Buffer,
];

/** What ioredis keeps of a script that was defined on a client. It does not promise to, so a client that somebody lends may lack it. */
interface ScriptsOfClient {
  readonly scriptsSet?: Readonly<Record<string, { readonly lua: string; readonly numberOfKeys: number }>>;
}

/** What BullMQ asks of its backend: a job, what it ended with, whether it is kept, its token, and whether to fetch the next one. */
export type Completion = Parameters<RedisQueueBackend["moveToCompleted"]>;

export interface JobEndsOptions {
  readonly client: Redis;
  readonly writes: CorkedWrites;
  /** Shared by all queues of the client. */
  readonly underWay: EndsUnderWay;
  /** The name under which BullMQ defined the script that ends a job. */
  readonly scriptName: string;
  /** What BullMQ would call that script with, after the name. */
  readonly argumentsFor: (...completion: Completion) => readonly Argument[];
}

interface Waiting {
  readonly completion: Completion;
  readonly answered: (answer: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/** BullMQ's script with ours behind it. */
interface Script {
  readonly text: string;
  readonly digest: string;
  readonly numberOfKeys: number;
}

/**
 * Completes the jobs of one queue, many in one call: those of one turn of the event loop, and those that gathered while
 * others were under way. Each is completed by BullMQ's own script, the
 * same as by itself; what is saved is everything around it, on both sides of the connection.
 */
export class JobEnds {
  readonly #options: JobEndsOptions;
  #script: Script | undefined;
  readonly #waiting: Waiting[] = [];
  #isAsking = false;

  constructor(options: JobEndsOptions) {
    this.#options = options;
  }

  /** What BullMQ's script answers for this job; null where the client does not tell that script, and nothing is done then. */
  complete(completion: Completion): Promise<unknown> | null {
    this.#script ??= this.#scriptOfClient();
    const script = this.#script;
    if (script === undefined) return null;
    return new Promise((answered, failed) => {
      this.#waiting.push({ completion, answered, failed });
      if (this.#isAsking) return;
      this.#isAsking = true;
      this.#options.writes.atTheEnd(() => this.#ask(script));
    });
  }

  #ask(script: Script): void {
    this.#options.underWay.whenThereIsRoom((most) => {
      const together = this.#waiting.splice(0, most);
      this.#options.writes.corkThisTurn();
      const answered = this.#send(script, together);
      this.#isAsking = this.#waiting.length > 0;
      if (this.#isAsking) this.#ask(script);
      return { jobs: together.length, answered };
    });
  }

  /** Never rejects. */
  async #send(script: Script, together: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#call(script, this.#argumentsOf(script, together));
      for (const [index, { answered, failed }] of together.entries()) {
        const answer = answers[index];
        if (typeof answer === "string") failed(new Error(answer));
        else answered(answer);
      }
    } catch (error) {
      for (const { failed } of together) failed(error);
    }
  }

  /** A server that has forgotten the script gets it whole. */
  async #call(script: Script, args: readonly Argument[]): Promise<readonly unknown[]> {
    try {
      return await this.#command("evalsha", [script.digest, ...args]);
    } catch (error) {
      // Looked for anywhere in the message, as ioredis does: a proxy may put a word of its own before it.
      if (!(error instanceof Error && error.message.includes("NOSCRIPT"))) throw error;
      return this.#command("eval", [script.text, ...args]);
    }
  }

  #command(name: string, args: readonly Argument[]): Promise<readonly unknown[]> {
    return this.#options.client.call(name, [...args]) as Promise<readonly unknown[]>;
  }

  /**
   * Jobs that are their names and data end alike, so that all but ids and tokens is taken from BullMQ's arguments for the first of
   * them. BullMQ packs the token among its options, as MessagePack text of one byte's length; the script puts each job's own there.
   */
  #argumentsOf({ numberOfKeys }: Script, together: readonly Waiting[]): Argument[] {
    const [{ completion }] = together as readonly [Waiting, ...Waiting[]];
    const [job, returnValue, removeOnComplete, token] = completion;
    // Without an id the job's own key is the bare prefix, which is no other key, whatever ids jobs have.
    const nameless = { ...job, id: "" };
    const json = JSON.stringify(returnValue);
    const whole = this.#options.argumentsFor(nameless, json, removeOnComplete, token, true);
    const keys = whole.slice(0, numberOfKeys);
    const [, timestamp, field, value, target, , prefix, packed] = whole.slice(
      numberOfKeys,
    ) as unknown as ScriptArguments;
    const tokenAt = packed.indexOf(token);
    return [
      numberOfKeys,
      ...keys,
      keys.indexOf(prefix) + 1,
      timestamp,
      field,
      value,
      target,
      prefix,
      packed.subarray(0, tokenAt - 2),
      packed.subarray(tokenAt + token.length),
      ...together.flatMap(({ completion: [{ id: ownId = "" }, , , ownToken, fetchNext] }) => [
        ownId,
        ownToken,
        fetchNext ? 1 : 0,
      ]),
    ];
  }

  #scriptOfClient(): Script | undefined {
    const { scriptsSet } = this.#options.client as ScriptsOfClient;
    const own = scriptsSet?.[this.#options.scriptName];
    if (own === undefined) return undefined;
    const text = `local function finish(KEYS, ARGV)\n${own.lua}\nend\n${COMPLETE_JOBS}`;
    const digest = createHash("sha1").update(text).digest("hex");
    return { text, digest, numberOfKeys: own.numberOfKeys };
  }
}
