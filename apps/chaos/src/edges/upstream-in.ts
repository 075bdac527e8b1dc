import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Random } from "@junban/order-stories";
import { migrateUpstream } from "@junban/upstream-outbox";
import { LEASE_SETTINGS } from "../faults/fault.ts";
import type { Stage } from "../stage.ts";
import type { EdgesOptions } from "./edges.ts";
import { openPool, ProducerDoor } from "./producer-door.ts";
import { ask, type Member, Troop } from "./troop.ts";

const FORWARDER = fileURLToPath(new URL("../../../forwarder/dist/main.js", import.meta.url));
const FORWARDERS = 3;
const LOOK_EVERY_MS = 50;

/** Events on their way in through a producer's own Postgres: committed there, and carried to the fleet by forwarders. */
export interface UpstreamIn {
  readonly forwarders: Troop;
  readonly doors: readonly ProducerDoor[];
}

/** `databaseUrl` is the producer's. */
export async function openUpstreamIn(
  { databaseUrl, redisUrl, prefix, closings }: EdgesOptions,
  { producers, seed }: { readonly producers: number; readonly seed: number },
): Promise<UpstreamIn> {
  await migrateUpstream({ databaseUrl });
  const pool = openPool(databaseUrl);
  closings.push(async () => pool.end());
  const forwarders = new Troop({
    program: FORWARDER,
    env: { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, JUNBAN_PREFIX: prefix, ...LEASE_SETTINGS },
    servesWhen: "the forwarder runs",
    size: FORWARDERS,
  });
  closings.push(async () => forwarders.stop());
  await forwarders.fill();
  const doors = Array.from(
    { length: producers },
    (_, number) => new ProducerDoor({ pool, random: new Random(seed, "producer", number) }),
  );
  return { forwarders, doors };
}

/** `active`, `standby`, `connecting` or `stopped`; null when it does not answer. */
export async function roleOf(forwarder: Member): Promise<string | null> {
  const answer = await ask(forwarder, "/readyz");
  return answer === null ? null : ((JSON.parse(answer) as { role?: string }).role ?? null);
}

/** Resolves once everything that was committed is carried on; with a sentence when something is not in time, or never will be. */
export async function untilCarriedOn(
  { forwarders }: UpstreamIn,
  { withinMs, signal }: { readonly withinMs: number; readonly signal: AbortSignal },
): Promise<string | null> {
  const untilMs = performance.now() + withinMs;
  let left = "nobody knows how many";
  while (performance.now() < untilMs) {
    for (const member of forwarders.members) {
      const metrics = (await ask(member, "/metrics")) ?? "";
      const [waiting, parked] = [figureOf(metrics, "waiting"), figureOf(metrics, "parked")];
      if (Number(parked) > 0) return `${parked} rows of the producer's outbox are parked`;
      if (waiting === "0") return null;
      left = waiting ?? left;
    }
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  return `rows still wait in the producer's outbox: ${left}`;
}

function figureOf(metrics: string, name: string): string | undefined {
  return new RegExp(`^junban_forward_${name} (\\d+)$`, "mu").exec(metrics)?.[1];
}

/** One sentence for each event that arrived although its transaction was rolled back. */
export async function takenBackThatArrived(
  { doors }: UpstreamIn,
  { store }: Pick<Stage, "store">,
): Promise<readonly string[]> {
  const takenBack = doors.flatMap((door) => door.takenBack);
  if (takenBack.length === 0) return ["the producer took nothing back"];
  const wrong: string[] = [];
  for (const { lcid, source, id } of takenBack) {
    const row = await store.readEvent({ source, id });
    if (row !== null) wrong.push(`${lcid}: ${source} ${id} was taken back, and is ${row.outcome}`);
  }
  return wrong;
}
