import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "@junban/order-stories";
import type { CrewMember } from "@junban/trial";
import type { Stage } from "../stage.ts";
import { CALM_MS, type Fault, HOLDER_BOUND_MS, LEASE_MS } from "./fault.ts";
import { hitAtMoment, type Moment } from "./moments.ts";

const HOLDER_MOMENTS: readonly { readonly moment: Moment; readonly says: string }[] = [
  { moment: "junban.batch.read", says: "right after it had read a batch" },
  { moment: "junban.batch.committed", says: "after COMMIT and before the handoff" },
  { moment: "junban.batch.handed-off", says: "after the handoff and before its job ended" },
];

export const killWorker: Fault = {
  name: "kill-worker",
  does: "kills a worker process at a random moment (SIGKILL) and starts another",
  boundMs: HOLDER_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 1,
  calmMs: CALM_MS,
  strike: async (stage, { random }) => {
    await pause(random.whole(0, 500));
    const victim = memberAtWork(stage, random);
    await stage.crew.kill(victim);
    return {
      says: `worker ${victim.number} was killed`,
      sinceMs: performance.now(),
      aftercare: async () => {
        await stage.crew.start();
      },
    };
  },
};

export const killHolder: Fault = {
  name: "kill-holder",
  does: "kills a worker while it holds a lane, at an exact point: a batch is read; it is committed; it is handed off",
  boundMs: HOLDER_BOUND_MS,
  keepsOrder: true,
  leastStrikes: HOLDER_MOMENTS.length,
  calmMs: 0,
  strike: async (stage, { random, struck, signal }) => {
    const point = HOLDER_MOMENTS[struck % HOLDER_MOMENTS.length] ?? HOLDER_MOMENTS[0];
    const { moment = "junban.batch.read", says = "" } = point ?? {};
    const hit = await hitAtMoment(stage, { moment, sends: "SIGKILL", random, signal });
    return {
      says: `worker ${hit.member.number} died ${says} (lane ${hit.lcid})`,
      sinceMs: hit.atMs,
      lcid: hit.lcid,
    };
  },
};

export const freezeHolder: Fault = {
  name: "freeze-holder",
  does: "stops a worker that holds a lane for two leases (SIGSTOP), before or after its COMMIT, then lets it go on (SIGCONT)",
  boundMs: HOLDER_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 2,
  calmMs: 0,
  strike: async (stage, { random, struck, signal }) => {
    const moment: Moment = struck % 2 === 0 ? "junban.batch.read" : "junban.batch.committed";
    const { member, lcid, atMs } = await hitAtMoment(stage, { moment, sends: "SIGSTOP", random, signal });
    return {
      says: `worker ${member.number} was frozen ${struck % 2 === 0 ? "before" : "after"} its COMMIT (lane ${lcid})`,
      sinceMs: atMs,
      lcid,
      // Only once the others have recovered without it, or it would be its own waking that is measured.
      aftercare: async () => {
        await pause(Math.max(0, atMs + 2 * LEASE_MS - performance.now()), undefined, { signal });
        stage.crew.resume(member);
        // What it does when it wakes is part of the fault; only then may it go.
        await pause(LEASE_MS / 2, undefined, { signal });
        await dismissCleanly(stage, member);
      },
    };
  },
};

export const rollingRestart: Fault = {
  name: "rolling-restart",
  does: "asks one worker after another to end (SIGTERM), each once its successor serves",
  boundMs: HOLDER_BOUND_MS,
  keepsOrder: true,
  leastStrikes: 2,
  calmMs: CALM_MS,
  strike: async (stage, { random }) => {
    const old = memberAtWork(stage, random);
    const successor = await stage.crew.start();
    const sinceMs = performance.now();
    await dismissCleanly(stage, old);
    return { says: `worker ${old.number} made way for worker ${successor.number}`, sinceMs };
  },
};

function memberAtWork(stage: Stage, random: Random): CrewMember {
  const { crew, spared } = stage;
  return random.pick(
    crew.members.filter(({ number, state }) => state === "at work" && number !== spared?.number),
  );
}

async function dismissCleanly(stage: Stage, member: CrewMember): Promise<void> {
  const { code, signal } = await stage.crew.dismiss(member);
  if (code !== 0) stage.wrong(`worker ${member.number} was asked to end and ended with ${signal ?? code}`);
}
