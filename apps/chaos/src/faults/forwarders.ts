import { setTimeout as pause } from "node:timers/promises";
import type { Member, Troop } from "../edges/troop.ts";
import { roleOf } from "../edges/upstream-in.ts";
import type { Stage } from "../stage.ts";
import { CALM_MS, type Fault, SERVICE_BOUND_MS } from "./fault.ts";
import { AT_MOMENT, type Moment, momentEnv } from "./moments.ts";

const MOMENTS: readonly { readonly moment: Moment; readonly says: string }[] = [
  { moment: "junban.forward.read", says: "after reading rows and before publishing them" },
  { moment: "junban.forward.published", says: "after publishing rows and before marking them" },
];
const ARMED_BY = "SIGUSR2";
const LONGEST_COUNTDOWN = 12;
const FROZEN_WITHIN_MS = 30_000;
const TURNS_WITHIN_MS = 40_000;
const LOOK_EVERY_MS = 50;

export const duplicateForwarders: Fault = {
  name: "duplicate-forwarders",
  does: "freezes the forwarder that leads until another does (SIGSTOP), wakes it with its rows in hands (SIGCONT), and kills the others (SIGKILL)",
  boundMs: SERVICE_BOUND_MS,
  keepsOrder: true,
  leastStrikes: MOMENTS.length,
  calmMs: CALM_MS,
  edges: ["upstream in"],
  strike: async (stage, { random, struck, signal }) => {
    const forwarders = forwardersOf(stage);
    const point = MOMENTS[struck % MOMENTS.length] ?? MOMENTS[0];
    const { moment = "junban.forward.read", says = "" } = point ?? {};
    const countdown = random.whole(1, LONGEST_COUNTDOWN);
    const env = momentEnv({ moment, sends: "SIGSTOP", countdown, armedBy: ARMED_BY });
    const victim = await forwarders.join({ preload: AT_MOMENT, env });
    await killAllBut(victim, forwarders);
    await oneLeads(stage, signal);
    await forwarders.fill();
    victim.tree.signal(ARMED_BY);
    await victim.tree.waitForLine('{"chaos":', { withinMs: FROZEN_WITHIN_MS });
    return {
      says: `the forwarder that led was frozen ${says}`,
      sinceMs: performance.now(),
      // Only once the others have recovered without it: by then another one leads.
      aftercare: async () => {
        victim.tree.signal("SIGCONT");
        // It goes on with the rows in its hands, finds that its session is gone, and stands back.
        await oneLeads(stage, signal);
        await killAllBut(victim, forwarders);
        await oneLeads(stage, signal);
        await forwarders.fill();
      },
    };
  },
};

async function killAllBut(spared: Member, forwarders: Troop): Promise<void> {
  const others = forwarders.members.filter((member) => member !== spared);
  await Promise.all(others.map(async (member) => forwarders.kill(member)));
}

/** Of all that run one leads and the others stand by; the stage's trouble when that does not come about. */
async function oneLeads(stage: Stage, signal: AbortSignal): Promise<void> {
  const { members } = forwardersOf(stage);
  const untilMs = performance.now() + TURNS_WITHIN_MS;
  let roles = await rolesOf(members);
  while (roles !== asOneLeads(members) && performance.now() < untilMs) {
    await pause(LOOK_EVERY_MS, undefined, { signal });
    roles = await rolesOf(members);
  }
  if (roles !== asOneLeads(members)) stage.wrong(`of all forwarders one should lead, and they are: ${roles}`);
}

async function rolesOf(members: readonly Member[]): Promise<string> {
  const roles = await Promise.all(members.map(async (member) => (await roleOf(member)) ?? "silent"));
  return roles.toSorted().join(" ");
}

function asOneLeads(members: readonly Member[]): string {
  return ["active", ...members.slice(1).map(() => "standby")].join(" ");
}

function forwardersOf({ upstreamIn }: Stage): Troop {
  if (upstreamIn === null) throw new TypeError("this fault needs a producer's outbox and forwarders");
  return upstreamIn.forwarders;
}
