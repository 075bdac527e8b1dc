import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import type { LaneObservers } from "./contract.ts";
import { LaneUnavailableError } from "./errors.ts";
import { errorOfReply, isStumble, isUnknownScript } from "./failures.ts";
import type { LaneKey } from "./lane-names.ts";
import { laneKey } from "./lane-names.ts";
import type { ScriptName } from "./script-texts.ts";
import { KEYS_OF, scriptText } from "./script-texts.ts";

interface Script {
  readonly text: string;
  readonly digest: string;
  readonly keys: readonly LaneKey[];
}

interface LaneScriptsOptions {
  readonly redis: Redis;
  readonly prefix: string;
  readonly commandTimeoutMs: number;
  readonly laneTtlMs: number;
  readonly onHealed: LaneObservers["onHealed"];
}

export interface Call {
  readonly lcid: string;
  readonly args: readonly (string | number)[];
  /** Gets the answer when it comes after the call was given up as unanswered, to undo what nobody waits for any more. */
  readonly onLateReply?: (reply: unknown) => void;
  /** Whether the answer names only requests that can be settled; else the lane is healed, and the call made once more. */
  readonly isSound?: (reply: unknown) => boolean;
}

interface Conversation {
  readonly send: () => Promise<unknown>;
  readonly sendWhole: () => Promise<unknown>;
  /** Whether nobody waits for the answer any more. */
  readonly isLate: () => boolean;
}

const NO_LANE: Call = { lcid: "", args: [] };

/**
 * Runs the scripts of lua/ on one shared connection.
 *
 * 1. Everything asked for in one turn of the event loop leaves in one socket write.
 * 2. A script that Redis has forgotten is sent whole, each call by itself, so it does not matter how many were under way.
 * 3. A lane in which somebody else left something is healed when a script stumbles over it.
 * 4. No call outlives `commandTimeoutMs` by more than it takes to connect, and a call made while Redis is away is never left
 *    to be sent behind its caller's back. One that was sent may still be answered late: `onLateReply` gets that answer.
 */
export class LaneScripts {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #commandTimeoutMs: number;
  readonly #laneTtlMs: number;
  readonly #onHealed: LaneObservers["onHealed"];
  readonly #scripts: Readonly<Record<ScriptName, Script>>;
  #corked = false;
  #opening: Promise<void> | null = null;

  constructor({ redis, prefix, commandTimeoutMs, laneTtlMs, onHealed }: LaneScriptsOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#commandTimeoutMs = commandTimeoutMs;
    this.#laneTtlMs = laneTtlMs;
    this.#onHealed = onHealed;
    this.#scripts = loadScripts();
  }

  /** @throws {LaneUnavailableError | OutOfMemoryError} */
  async run(name: ScriptName, call: Call): Promise<unknown> {
    if (this.#redis.status !== "ready") await this.#untilReady(name);
    const { keys, text, digest } = this.#scripts[name];
    const args = [digest, keys.length, ...this.#keysOf(keys, call.lcid), ...call.args];
    const send = (): Promise<unknown> => {
      this.#corkThisTick();
      return this.#redis.call("evalsha", args);
    };
    const sendWhole = (): Promise<unknown> => {
      this.#corkThisTick();
      args[0] = text;
      return this.#redis.call("eval", args);
    };
    return this.#bounded(name, call, (isLate) => this.#converse(call, { send, sendWhole, isLate }));
  }

  /** One page of a SCAN over every lane key. */
  async scanPage(
    cursor: string,
    pattern: string,
  ): Promise<readonly [cursor: string, keys: readonly string[]]> {
    if (this.#redis.status !== "ready") await this.#untilReady("scan");
    return this.#bounded("scan", NO_LANE, () => this.#redis.scan(cursor, "MATCH", pattern, "COUNT", 500));
  }

  #corkThisTick(): void {
    if (this.#corked) return;
    const { stream } = this.#redis;
    this.#corked = true;
    stream.cork();
    setImmediate(() => {
      this.#corked = false;
      stream.uncork();
    });
  }

  /** Asks once more where Redis has forgotten the script, and where the lane had to be healed first. */
  async #converse(call: Call, { send, sendWhole, isLate }: Conversation): Promise<unknown> {
    let ask = send;
    let healed = false;
    for (;;) {
      try {
        const reply = await ask();
        if (healed || isLate() || (call.isSound?.(reply) ?? true)) return reply;
      } catch (error) {
        if (isLate()) throw error;
        if (ask === send && isUnknownScript(error)) {
          ask = sendWhole;
          continue;
        }
        if (healed || !isStumble(error)) throw error;
      }
      await this.#heal(call.lcid);
      healed = true;
    }
  }

  #bounded<T>(command: string, call: Call, ask: (isLate: () => boolean) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        reject(new LaneUnavailableError({ command }));
      }, this.#commandTimeoutMs);
      const answered = (reply: T): void => {
        clearTimeout(timer);
        if (late) call.onLateReply?.(reply);
        else resolve(reply);
      };
      const failed = (error: unknown): void => {
        clearTimeout(timer);
        reject(errorOfReply(error, { command, lcid: call.lcid }));
      };
      ask(() => late).then(answered, failed);
    });
  }

  async #heal(lcid: string): Promise<void> {
    const { text, keys } = this.#scripts.heal;
    await this.#redis.call("eval", [text, keys.length, ...this.#keysOf(keys, lcid), this.#laneTtlMs]);
    this.#onHealed?.(lcid);
  }

  #keysOf(keys: readonly LaneKey[], lcid: string): string[] {
    return keys.map((key) => laneKey(this.#prefix, key, lcid));
  }

  async #untilReady(command: string): Promise<void> {
    if (this.#redis.status === "end") throw new LaneUnavailableError({ command });
    // A client made with lazyConnect waits to be asked; its failure shows as the limit below.
    if (this.#redis.status === "wait") this.#redis.connect().catch(() => {});
    this.#opening ??= new Promise<void>((resolve) => {
      this.#redis.once("ready", () => {
        this.#opening = null;
        resolve();
      });
    });
    const opening = this.#opening;
    await this.#bounded(command, NO_LANE, () => opening);
  }
}

function loadScript(name: ScriptName): Script {
  const text = scriptText(name);
  return { text, digest: createHash("sha1").update(text).digest("hex"), keys: KEYS_OF[name] };
}

function loadScripts(): Readonly<Record<ScriptName, Script>> {
  return {
    queue: loadScript("queue"),
    enter: loadScript("enter"),
    handoff: loadScript("handoff"),
    renew: loadScript("renew"),
    leave: loadScript("leave"),
    "step-back": loadScript("step-back"),
    withdraw: loadScript("withdraw"),
    inspect: loadScript("inspect"),
    "sweep-outcomes": loadScript("sweep-outcomes"),
    heal: loadScript("heal"),
  };
}
