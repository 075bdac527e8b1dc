import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import type { ScriptName } from "../../packages/handoff-lock/src/script-texts.ts";
import { scriptText } from "../../packages/handoff-lock/src/script-texts.ts";

export interface Spoiled {
  readonly script: ScriptName;
  /** What is taken out of the script, and what stands there instead. */
  readonly guard: string;
  readonly without: string;
}

/** From now on this client runs a script with one of its guards taken out, whoever sends it and however. */
export function spoilScript(redis: Redis, { script, guard, without }: Spoiled): void {
  const whole = scriptText(script);
  if (whole.split(guard).length !== 2) throw new Error(`${script} does not hold exactly one: ${guard}`);
  const spoiled = whole.replace(guard, () => without);
  const digest = createHash("sha1").update(whole).digest("hex");
  const send = redis.call.bind(redis) as (command: string, args: (string | number)[]) => Promise<unknown>;
  const sendSpoiled: typeof send = async (command, args) => {
    const [text, ...rest] = args;
    const isMeant = text === digest || text === whole;
    return isMeant ? send("eval", [spoiled, ...rest]) : send(command, args);
  };
  redis.call = sendSpoiled as typeof redis.call;
}
