import type { ChunkHook } from "@junban/sandbox";
import { RedisRequestReader, type RequestWords } from "./redis-requests.ts";

export interface RedisCounts {
  readonly calls: number;
  /** Times that a connection's client spoke after the server had. */
  readonly trips: number;
  /** By name, most frequent first; scripts by the beginning of their digest and the shape of their first key. */
  readonly callsByName: Readonly<Record<string, number>>;
}

interface Connection {
  readonly reader: RedisRequestReader;
  hasServerSpoken: boolean;
}

/** Counts what goes through a proxy in front of Redis. */
export class RedisCounter {
  readonly #prefix: string;
  readonly #connections = new Map<number, Connection>();
  #trips = 0;
  #calls = new Map<string, number>();

  /** `prefix` of all keys is left out of names, so that they are the same in every round. */
  constructor({ prefix }: { readonly prefix: string }) {
    this.#prefix = prefix;
  }

  readonly hook: ChunkHook = (direction, chunk, number) => {
    const connection = this.#connectionOf(number);
    if (direction === "toClient") {
      connection.hasServerSpoken = true;
      return undefined;
    }
    if (connection.hasServerSpoken) this.#trips += 1;
    connection.hasServerSpoken = false;
    connection.reader.read(chunk);
    return undefined;
  };

  /** Forgets what was counted so far, but not where in the middle of a command a connection is. */
  reset(): void {
    this.#trips = 0;
    this.#calls = new Map();
    for (const connection of this.#connections.values()) connection.hasServerSpoken = true;
  }

  counts(): RedisCounts {
    const byName = [...this.#calls].toSorted(([, left], [, right]) => right - left);
    return {
      calls: byName.reduce((sum, [, calls]) => sum + calls, 0),
      trips: this.#trips,
      callsByName: Object.fromEntries(byName),
    };
  }

  #connectionOf(number: number): Connection {
    const known = this.#connections.get(number);
    if (known !== undefined) return known;
    const reader = new RedisRequestReader((words) => {
      const name = nameOf(words, this.#prefix);
      this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1);
    });
    const connection = { reader, hasServerSpoken: true };
    this.#connections.set(number, connection);
    return connection;
  }
}

const SCRIPTS: ReadonlySet<string> = new Set(["eval", "evalsha", "fcall"]);
const DIGEST_SHOWN = 8;

/** A script's digest says little to a person; its first key, with what varies in it left out, says more. */
function nameOf([command = "", script = "", , firstKey = ""]: RequestWords, prefix: string): string {
  const name = command.toLowerCase();
  if (!SCRIPTS.has(name)) return name;
  const known = name === "eval" ? "" : ` ${script.slice(0, DIGEST_SHOWN)}`;
  // Without a hash tag nothing tells what in a key varies.
  if (!firstKey.includes("{")) return `${name}${known}`;
  const own = firstKey.startsWith(prefix) ? firstKey.slice(prefix.length + 1) : firstKey;
  return `${name}${known} ${own.replaceAll(/\{[^}]*\}?/gu, "{}")}`;
}
