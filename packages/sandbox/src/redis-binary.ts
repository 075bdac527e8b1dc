import { delimiter, join } from "node:path";
import { runCommand } from "./commands.ts";
import { RedisMissingError } from "./errors.ts";
import { isExecutable } from "./executables.ts";
import { installPackage, type Machine } from "./system-packages.ts";

export interface RedisBinary {
  file: string;
  /** The name under which the binary has to be started; Debian's one binary serves several names. */
  argv0?: string;
}

/** What the search touches, so that a test can play a machine on which nothing is installed. */
export interface RedisSearch extends Machine {
  env: NodeJS.ProcessEnv;
  /** Where Debian's RDB checkers lie even when PATH leaves them out. */
  checkerFolders: readonly string[];
}

const REDIS = { what: "Redis server", debian: "redis-tools", brew: "redis" };

/** Finds a Redis or Valkey server binary, or installs one, or throws RedisMissingError. */
export async function findRedisBinary(search: RedisSearch = systemSearch()): Promise<RedisBinary> {
  const tried: string[] = [];
  const found = await lookAround(search, tried);
  if (found !== undefined) return found;
  if (await installPackage(search, { wanted: REDIS, tried })) {
    const installed = await lookAround(search, tried);
    if (installed !== undefined) return installed;
  }
  throw new RedisMissingError({ tried });
}

async function lookAround(search: RedisSearch, tried: string[]): Promise<RedisBinary | undefined> {
  const named = search.env["JUNBAN_REDIS_SERVER"];
  if (named !== undefined && named !== "") {
    // Somebody asked for this very binary; quietly taking another would mislead them.
    if (await isServer(search, { file: named })) return { file: named };
    throw new RedisMissingError({ tried: [named], named });
  }
  for (const candidate of candidates(search)) {
    if (await isServer(search, candidate)) return candidate;
    tried.push(candidate.file);
  }
  return undefined;
}

/**
 * Debian and Ubuntu put the whole server into `redis-tools` (`valkey-tools`) as the RDB checker: one binary that looks at
 * its own name and becomes a server under any other. So a machine with the client tools has a server, without a service.
 */
function candidates(search: RedisSearch): readonly RedisBinary[] {
  const onPath = (search.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const names: readonly { name: string; argv0?: string }[] = [
    { name: "redis-server" },
    { name: "valkey-server" },
    { name: "redis-check-rdb", argv0: "redis-server" },
    { name: "valkey-check-rdb", argv0: "valkey-server" },
  ];
  const found: RedisBinary[] = [];
  for (const { name, argv0 } of names) {
    // A server outside PATH is there on somebody's purpose, so only the checkers are looked for elsewhere.
    const places = argv0 === undefined ? onPath : [...onPath, ...search.checkerFolders];
    const file = places.map((folder) => join(folder, name)).find(isExecutable);
    if (file !== undefined) found.push(argv0 === undefined ? { file } : { file, argv0 });
  }
  return found;
}

async function isServer(search: RedisSearch, binary: RedisBinary): Promise<boolean> {
  try {
    const options = { timeoutMs: 10_000, ...(binary.argv0 === undefined ? {} : { argv0: binary.argv0 }) };
    return /^(Redis|Valkey) server v=/m.test(await search.run(binary.file, ["--version"], options));
  } catch {
    return false;
  }
}

function systemSearch(): RedisSearch {
  return {
    env: process.env,
    uid: process.getuid?.() ?? -1,
    platform: process.platform,
    checkerFolders: ["/usr/bin", "/usr/local/bin"],
    run: runCommand,
    say: (line) => process.stderr.write(`${line}\n`),
  };
}
