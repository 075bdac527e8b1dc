import { Command } from "ioredis";
import type { Redis } from "ioredis";

/** What ioredis keeps of a script that was defined on a client. */
interface DefinedScript {
  readonly sha: string;
  readonly numberOfKeys: number;
}

/** ioredis does not promise `scriptsSet`, so a client that somebody lends may lack it. */
export interface LeanClient extends Pick<Redis, "sendCommand"> {
  readonly scriptsSet?: Readonly<Record<string, DefinedScript>>;
}

/**
 * Writes its arguments in one pass. ioredis measures and copies each of them by itself, twice over where one of them is binary, and
 * BullMQ ends a job with a script of some twenty arguments one of which is: that was the dearest thing a consumer did.
 */
export class LeanCommand extends Command {
  override toWritable(): Buffer {
    const parts: (string | Buffer)[] = [];
    let text = `*${this.args.length + 1}\r\n${bulk(this.name)}`;
    for (const argument of this.args as readonly (string | Buffer)[]) {
      if (typeof argument === "string") {
        text += bulk(argument);
      } else {
        parts.push(`${text}$${argument.length}\r\n`, argument);
        text = "\r\n";
      }
    }
    parts.push(text);
    const size = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    const whole = Buffer.allocUnsafe(size);
    let end = 0;
    for (const part of parts) {
      end += typeof part === "string" ? whole.write(part, end) : part.copy(whole, end);
    }
    return whole;
  }
}

function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}

/**
 * Calls a script that is defined on the client; null where the client does not say so, and nothing is sent then. Rejects with
 * NOSCRIPT where the server does not have the script: ioredis' own way loads it. Of a client's options, pipelining by itself and
 * friendlier stacks of errors do not touch these calls.
 */
export function callLeanly(
  client: LeanClient,
  name: string,
  args: readonly unknown[],
): Promise<unknown> | null {
  const script = client.scriptsSet?.[name];
  if (script === undefined) return null;
  const whole = [script.sha, script.numberOfKeys, ...args] as (string | Buffer)[];
  const command = new LeanCommand("evalsha", whole, { replyEncoding: "utf8" });
  return client.sendCommand(command) as Promise<unknown>;
}
