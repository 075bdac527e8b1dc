import type { Redis } from "ioredis";
import { isRefusal } from "./connection.ts";
import { evictingPolicyIn } from "./redis-fitness.ts";

/** A replica as its primary sees it. */
export interface ReplicaFacts {
  readonly address: string;
  /** `online` when it follows. */
  readonly state: string;
  /** Seconds since it last acknowledged what it received. */
  readonly silentSeconds: number;
  /** Bytes of writes that it has not acknowledged. */
  readonly behindBytes: number;
}

/** Three readings of clocks around one question, in milliseconds since 1970. */
export interface ClockReading {
  /** This host's clock before the question left and when its answer had come. */
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  /** What the server's clock said in between. */
  readonly serverMs: number;
}

/** A Redis server as it stands. What an access list or a provider hides is null. */
export interface RedisFacts {
  readonly version: string;
  /** `master`, or `slave` for a replica, which takes no writes. */
  readonly role: string;
  readonly usedBytes: number;
  /** Null when no limit is set. */
  readonly limitBytes: number | null;
  /** The memory policy if it lets Redis drop keys; null when nothing is ever dropped, or the server does not tell. */
  readonly evictingPolicy: string | null;
  readonly appendOnly: boolean;
  /** `always`, `everysec` or `no`. */
  readonly appendFsync: string | null;
  /** Whether the last write of its file failed, append-only or snapshot. */
  readonly isWriteFailing: boolean;
  /** As `openAddresses` answers. */
  readonly openAt: readonly string[];
  readonly replicas: readonly ReplicaFacts[];
  readonly clock: ClockReading;
}

export async function readRedisFacts(client: Redis): Promise<RedisFacts> {
  const [clock, text, appendFsync, openAt] = await Promise.all([
    readClock(client),
    client.info(),
    settingOf(client, "appendfsync"),
    openAddresses(client),
  ]);
  const info = fieldsOf(text);
  const limitBytes = Number(info.get("maxmemory") ?? 0);
  return {
    version: info.get("valkey_version") ?? info.get("redis_version") ?? "",
    role: info.get("role") ?? "",
    usedBytes: Number(info.get("used_memory") ?? 0),
    limitBytes: limitBytes === 0 ? null : limitBytes,
    evictingPolicy: evictingPolicyIn(text),
    appendOnly: info.get("aof_enabled") === "1",
    appendFsync,
    isWriteFailing: ["aof_last_write_status", "rdb_last_bgsave_status"].some(
      (name) => info.get(name) === "err",
    ),
    openAt,
    replicas: replicasOf(info),
    clock,
  };
}

/** Addresses beyond its own machine at which a server lets in whoever comes; `*` is all. None also when it does not tell. */
export async function openAddresses(client: Redis): Promise<readonly string[]> {
  const [bind, protectedMode, isOpen] = await Promise.all([
    settingOf(client, "bind"),
    settingOf(client, "protected-mode"),
    letsInAnybody(client),
  ]);
  // In protected mode a server without a password answers its own machine only.
  if (bind === null || protectedMode !== "no" || !isOpen) return [];
  // A hyphen before an address means that the server may do without it; no address at all means every one.
  const addresses = bind.split(" ").map((address) => address.replace(/^-/u, "") || "*");
  return addresses.filter((address) => !isLoopback(address));
}

function isLoopback(address: string): boolean {
  return address === "::1" || address === "localhost" || address.startsWith("127.");
}

async function readClock(client: Redis): Promise<ClockReading> {
  const askedAtMs = Date.now();
  const [seconds, microseconds] = await client.time();
  return {
    askedAtMs,
    answeredAtMs: Date.now(),
    serverMs: Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000),
  };
}

function fieldsOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
}

function replicasOf(info: ReadonlyMap<string, string>): ReplicaFacts[] {
  const sentBytes = Number(info.get("master_repl_offset") ?? 0);
  const replicas: ReplicaFacts[] = [];
  for (let index = 0; info.has(`slave${index}`); index += 1) {
    const told = new URLSearchParams(info.get(`slave${index}`)?.replaceAll(",", "&"));
    replicas.push({
      address: `${told.get("ip") ?? ""}:${told.get("port") ?? ""}`,
      state: told.get("state") ?? "",
      silentSeconds: Number(told.get("lag") ?? 0),
      behindBytes: Math.max(0, sentBytes - Number(told.get("offset") ?? 0)),
    });
  }
  return replicas;
}

async function settingOf(client: Redis, name: string): Promise<string | null> {
  return unlessRefused(async () => {
    const [, value] = await client.config("GET", name);
    return value ?? null;
  });
}

/** A stranger is the default user until it says otherwise. Null when the server does not tell. */
async function letsInAnybody(client: Redis): Promise<boolean | null> {
  return unlessRefused(async () => {
    const told = (await client.acl("GETUSER", "default")) as unknown[] | null;
    const flags = told?.[told.indexOf("flags") + 1];
    return Array.isArray(flags) && flags.includes("on") && flags.includes("nopass");
  });
}

async function unlessRefused<Told>(question: () => Promise<Told>): Promise<Told | null> {
  try {
    return await question();
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}
