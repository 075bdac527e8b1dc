import type { RedisFacts, ReplicaFacts } from "@junban/event-queues";
import { counted, sized, type Finding } from "./finding.ts";

/** The scripts of the lanes keep to what this version has. */
const OLDEST = { major: 6, minor: 2 };
/** Shares of the memory limit from which there is little room, and hardly any. */
const LITTLE_ROOM = 0.75;
const NO_ROOM = 0.9;
const SILENT_SECONDS = 10;
const BEHIND_BYTES = 10 * 1_048_576;

type Judgement = Omit<Finding, "about">;

/** What the state of Redis means for the fleet. */
export function judgeRedis(facts: RedisFacts): Finding[] {
  return [
    ...judgeServer(facts),
    ...judgeMemory(facts),
    ...judgeFile(facts),
    ...judgeExposure(facts),
    ...judgeReplicas(facts.replicas),
  ].map((judgement) => ({ about: "redis", ...judgement }));
}

function judgeServer({ version, role }: RedisFacts): Judgement[] {
  const found: Judgement[] = [];
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
    found.push({
      code: "REDIS_TOO_OLD",
      severity: "wrong",
      says: `Redis is version ${version}`,
      means: "the scripts of the lanes need commands that came with 6.2",
      fix: "run Redis 6.2 or later, or Valkey",
    });
  }
  if (role === "slave") {
    found.push({
      code: "REDIS_IS_REPLICA",
      severity: "wrong",
      says: "REDIS_URL leads to a replica",
      means: "it takes no writes: nothing can be published, and no lane can be entered",
      fix: "let REDIS_URL name the primary",
    });
  }
  return found;
}

function judgeMemory({ usedBytes, limitBytes, evictingPolicy }: RedisFacts): Judgement[] {
  const found: Judgement[] = [];
  if (evictingPolicy !== null) {
    found.push({
      code: "REDIS_MAY_EVICT",
      severity: "wrong",
      says: `maxmemory-policy is ${evictingPolicy}`,
      means: "a full Redis would drop locks, lines and jobs, and no one would be told",
      fix: "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf",
    });
  }
  if (limitBytes === null) {
    found.push({
      code: "REDIS_WITHOUT_MEMORY_LIMIT",
      severity: "warning",
      says: `Redis uses ${sized(usedBytes)} and has no maxmemory`,
      means:
        "a backlog may take all memory of its machine, and the system then kills Redis instead of Redis refusing publishers",
      fix: "set maxmemory below what the machine has left, with room for a copy while the file is rewritten",
    });
  } else if (usedBytes >= limitBytes * LITTLE_ROOM) {
    found.push({
      code: "REDIS_NEARLY_FULL",
      severity: usedBytes >= limitBytes * NO_ROOM ? "wrong" : "warning",
      says: `Redis uses ${sized(usedBytes)} of ${sized(limitBytes)}`,
      means:
        "at the limit publishers are refused, and BullMQ fetches no further job until there is room again",
      fix: "raise maxmemory, add workers, or look at what piles up: junban status, junban updates",
    });
  }
  return found;
}

function judgeFile({ appendOnly, appendFsync, isWriteFailing }: RedisFacts): Judgement[] {
  const found: Judgement[] = [];
  if (!appendOnly) {
    found.push({
      code: "REDIS_WITHOUT_FILE",
      severity: "wrong",
      says: "Redis writes no append-only file",
      means:
        "when it dies, all events that were published since its last snapshot and not decided yet are lost",
      fix: "CONFIG SET appendonly yes, and the same in redis.conf",
    });
  } else if (appendFsync === "no") {
    found.push({
      code: "REDIS_FILE_NOT_FORCED",
      severity: "warning",
      says: "appendfsync is no",
      means: "when the machine dies, half a minute of published events may be lost, not a second of them",
      fix: "CONFIG SET appendfsync everysec, and the same in redis.conf",
    });
  }
  if (isWriteFailing) {
    found.push({
      code: "REDIS_CANNOT_WRITE_FILE",
      severity: "wrong",
      says: "Redis could not write its file the last time it tried",
      means: "what it holds would not survive its end; it may refuse all writes",
      fix: "look at its log, its disk and its rights there",
    });
  }
  return found;
}

function judgeExposure({ openAt }: RedisFacts): Judgement[] {
  if (openAt.length === 0) return [];
  return [
    {
      code: "REDIS_OPEN",
      severity: "wrong",
      says: `Redis asks for no password and listens on ${openAt.includes("*") ? "every address" : openAt.join(", ")}`,
      means:
        "whoever reaches that address can read, change and delete what it holds, and run code on its machine",
      fix: "set requirepass (and REDIS_URL), or bind it to addresses that only its own machine reaches",
    },
  ];
}

function judgeReplicas(replicas: readonly ReplicaFacts[]): Judgement[] {
  return replicas
    .filter(
      ({ state, silentSeconds, behindBytes }) =>
        state !== "online" || silentSeconds > SILENT_SECONDS || behindBytes > BEHIND_BYTES,
    )
    .map(({ address, state, silentSeconds, behindBytes }) => ({
      code: "REDIS_REPLICA_BEHIND",
      severity: "warning",
      says: `the replica ${address} is ${state}, ${sized(behindBytes)} behind, last heard ${counted(silentSeconds, "second")} ago`,
      means: "a failover to it would lose what it has not received",
      fix: "look at the network between them and at the replica's log",
    }));
}
