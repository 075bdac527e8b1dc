import { readDoctorFacts, type DoctorFacts, type DoctorOptions, type Reading } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { judgeClocks } from "./judge-clocks.ts";
import { judgeFleet } from "./judge-fleet.ts";
import { connectionsUsedUp, judgeMigrations, judgePostgres } from "./judge-postgres.ts";
import { judgeRedis } from "./judge-redis.ts";

/** What was looked at, and what is to be said about it: what is wrong first. */
export interface Examination {
  readonly facts: DoctorFacts;
  readonly findings: readonly Finding[];
  /** False when a service could not be asked; what it would have told is not judged then. */
  readonly isWhole: boolean;
}

/** Looks at both servers, the clocks and the fleet. Never rejects because of a service that is away: that is a finding. */
export async function examine(options: DoctorOptions): Promise<Examination> {
  const facts = await readDoctorFacts(options);
  return {
    facts,
    findings: judge(facts),
    isWhole: facts.redis.kind === "read" && facts.postgres.kind === "read",
  };
}

/** What facts mean. Asks nothing. */
export function judge({
  settings,
  redis,
  postgres,
  pendingMigrations,
  fleet,
}: DoctorFacts): readonly Finding[] {
  const workers = fleet.kind === "read" ? fleet.value.workers : null;
  const findings = [
    ...away("redis", redis),
    ...away("postgres", postgres),
    ...(redis.kind === "read" ? judgeRedis(redis.value) : []),
    ...(postgres.kind === "read" ? judgePostgres(postgres.value, { settings, workers }) : []),
    ...(pendingMigrations.kind === "read" ? judgeMigrations(pendingMigrations.value) : []),
    ...judgeClocks({
      ...(redis.kind === "read" ? { Redis: redis.value.clock } : {}),
      ...(postgres.kind === "read" ? { Postgres: postgres.value.clock } : {}),
    }),
    ...(fleet.kind === "read" ? judgeFleet(fleet.value, settings) : []),
  ];
  const unread = unreadFleet({ redis, postgres, pendingMigrations, fleet });
  return [...findings, ...unread].toSorted(
    (left, right) => Number(left.severity === "warning") - Number(right.severity === "warning"),
  );
}

function away(about: "redis" | "postgres", reading: Reading<unknown>): Finding[] {
  if (reading.kind === "read") return [];
  const [server, variable] = about === "redis" ? ["Redis", "REDIS_URL"] : ["Postgres", "DATABASE_URL"];
  if (reading.isDenied) {
    return [
      {
        code: `${about.toUpperCase()}_DENIES`,
        about,
        severity: "wrong",
        says: `${server} is there and lets nobody in by ${variable}: ${reading.why}`,
        means: "whoever has the same address decides nothing and publishes nothing",
        fix: `correct the name, the password or the database in ${variable}, or give that name the rights`,
      },
    ];
  }
  if (reading.isFull) return [connectionsUsedUp(`${server} refuses another connection: ${reading.why}`)];
  return [
    {
      code: `${about.toUpperCase()}_AWAY`,
      about,
      severity: "wrong",
      says: `${server} cannot be asked: ${reading.why}`,
      means: "no event is decided while it is away; what was published waits",
      fix: `start it, or correct ${variable}`,
    },
  ];
}

/** A fleet that cannot be read although both servers answer and the schema is up to date has a reason of its own. */
function unreadFleet({
  redis,
  postgres,
  pendingMigrations,
  fleet,
}: Omit<DoctorFacts, "settings">): Finding[] {
  const isExplained =
    redis.kind !== "read" ||
    postgres.kind !== "read" ||
    (pendingMigrations.kind === "read" && pendingMigrations.value.length > 0);
  if (fleet.kind === "read" || isExplained) return [];
  return [
    {
      code: "FLEET_UNREADABLE",
      about: "fleet",
      severity: "wrong",
      says: `queues, lanes and orders cannot be read: ${fleet.why}`,
      means: "whether anything stands still is not known",
      fix: "try again; if it stays, give the command's role the rights that a worker's has",
    },
  ];
}
