import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import type { Lab } from "./lab.ts";
import { keysOf, NEVER, numbered, request, serve, settle, turnOf } from "./lab.ts";
import { OwnRedis } from "./own-redis.ts";
import { RawLane } from "./raw-lane.ts";

let own: OwnRedis;
let lab: Lab;
const children: ProcessTree[] = [];
beforeAll(async () => {
  own = await OwnRedis.start();
  lab = own.lab();
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.stop({ signal: "SIGKILL" });
});
afterAll(() => lab.close());

async function startChild(lcid: string, keys: readonly string[], leaseMs: number): Promise<ProcessTree> {
  const program = fileURLToPath(new URL("./lane.process.ts", import.meta.url));
  const loader = ["--conditions", "@junban/source", "--import", "tsx"];
  const args = [...loader, program, own.server.url, lab.prefix, String(leaseMs), lcid, ...keys];
  const child = await startProcess({ command: process.execPath, args });
  children.push(child);
  return child;
}

test("a holder frozen past its lease cannot touch the next holder's turn, and finds its own lost", async () => {
  const lanes = lab.process();
  const redis = own.connect();
  const lcid = lab.lane();
  const lane = new RawLane(redis, { prefix: lab.prefix, lcid });
  await lanes.queue(lcid, numbered(3));
  const child = await startChild(lcid, ["r0"], 1000);
  await child.waitForLine("turn r0");
  child.signal("SIGSTOP");
  const turn = await eventually(async () => {
    const entry = await lanes.enter(lcid, request("r1"));
    return entry.kind === "turn" && entry.turn;
  });
  const before = await lane.state();
  child.signal("SIGCONT");
  child.signal("SIGUSR2");
  await child.waitForLine("handoff lost");
  await child.waitForLine("lost");
  expect(await lane.state()).toEqual(before);
  expect(await serve(turn)).toEqual(["r0", "r1", "r2"]);
});

test("a killed holder gives way within about one lease", async () => {
  const lanes = lab.process({ pollMs: 50, waitMs: 60_000, wordMs: 60_000 });
  const lcid = lab.lane();
  await lanes.queue(lcid, numbered(2));
  const child = await startChild(lcid, ["r0"], 2000);
  await child.waitForLine("turn r0");
  const standing = lanes.stand(lcid, request("r1"), { signal: NEVER });
  await eventually(async () => (await lanes.inspect(lcid)).seats === 1);
  child.signal("SIGKILL");
  const killedAtMs = performance.now();
  const turn = turnOf(await standing);
  // Lease 2 s; the rest is what a busy machine may take.
  expect(performance.now() - killedAtMs).toBeLessThan(7000);
  expect(turn.tries).toBe(2);
  expect(await serve(turn)).toEqual(["r0", "r1"]);
});

test("of 50 waiters 49 die with their process: the survivor has the lane within about one lease, without ghosts", async () => {
  const lanes = lab.process({ pollMs: 50, waitMs: 60_000, wordMs: 60_000 });
  const lcid = lab.lane();
  await lanes.queue(lcid, numbered(50));
  const child = await startChild(lcid, keysOf(numbered(49)), 2000);
  await child.waitForLine(/^turn /);
  await eventually(async () => (await lanes.inspect(lcid)).seats === 48);
  const standing = lanes.stand(lcid, request("r49"), { signal: NEVER });
  await eventually(async () => (await lanes.inspect(lcid)).seats === 49);
  child.signal("SIGKILL");
  const killedAtMs = performance.now();
  const turn = turnOf(await standing);
  expect(performance.now() - killedAtMs).toBeLessThan(7000);
  await turn.handOff(settle("r0"), { yieldTurn: true });
  expect((await lanes.inspect(lcid)).seats, "asked to yield, it found every other seat silent").toBe(0);
  expect(await lanes.inspect(lcid)).toMatchObject({ holder: turn.token, depth: 49 });
  await turn.handOff(settle(...keysOf(numbered(50))));
  expect(await lanes.inspect(lcid)).toMatchObject({ holder: null, depth: 0, seats: 0 });
});

describe("renewal racing release", () => {
  test("5,000 turns of about one renewal interval: no false loss, nothing unhandled", async () => {
    const lost: string[] = [];
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const leaseMs = 6000;
    const processes = [1, 2, 3, 4].map(() =>
      lab.process({ leaseMs, onLeaseLost: (lcid, why) => lost.push(`${lcid} ${why}`) }),
    );
    // Every process renews at one moment, each third of the lease, and these turns end around that moment: before it,
    // with it in the same write, and behind it, by leaving, releasing and going on.
    const endings = await Promise.all(
      Array.from({ length: 5000 }, async (_, index) => {
        const lanes = processes[index % 4]!;
        const lcid = lab.lane();
        const turn = turnOf(await lanes.enter(lcid, request("a")));
        const untilMs = turn.startedAtMs + leaseMs / 3 - 400 + (index % 800);
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, untilMs - performance.now())));
        if (index % 3 === 0) {
          await turn.leave();
          return "left";
        }
        if (index % 3 === 1) await turn.handOff([]);
        return (await turn.handOff(settle("a"))).kind;
      }),
    );
    await Promise.all(processes.map((lanes) => lanes.inspect(lab.lane())));
    process.off("unhandledRejection", note);
    expect(new Set(endings)).toEqual(new Set(["left", "released"]));
    expect(lost).toEqual([]);
    expect(unhandled).toEqual([]);
  });
});

test("words are missed 1,000 times, and nobody sleeps beside a free lane", async () => {
  const lanes = lab.process({ pollMs: 20, waitMs: 120_000, wordMs: 120_000 });
  const holder = lab.process();
  const admin = own.connect();
  const lcids = Array.from({ length: 20 }, () => lab.lane());
  await holder.queueMany(lcids.map((lcid) => ({ lcid, requests: numbered(2) })));
  let missed = 0;
  for (let round = 0; round < 50; round += 1) {
    const turns = await Promise.all(
      lcids.map(async (lcid) => turnOf(await holder.enter(lcid, request("r0")))),
    );
    const standing = lcids.map((lcid) => lanes.stand(lcid, request("r1"), { signal: NEVER }));
    await eventually(
      async () => {
        const reports = await Promise.all(lcids.map((lcid) => holder.inspect(lcid)));
        return reports.every(({ seats }) => seats === 1);
      },
      { everyMs: 5 },
    );
    // The subscription dies at the very moment of the release, or just before it.
    const killed = admin.call("CLIENT", "KILL", "TYPE", "pubsub");
    if (round % 2 === 0) await killed;
    await Promise.all(turns.map((turn) => turn.leave()));
    await killed;
    missed += Number((await holder.inspect(lcids[0]!)).seats === 0);
    for (const answer of await Promise.all(standing)) await turnOf(answer).leave();
  }
  expect(missed).toBeGreaterThan(10);
}, 60_000);
