import { readFile } from "node:fs/promises";
import { trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { startSandbox, type Sandbox } from "@junban/sandbox";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Contender } from "../../apps/bench/src/contenders/contender.ts";
import { graphile } from "../../apps/bench/src/contenders/graphile.ts";
import { groupmq } from "../../apps/bench/src/contenders/groupmq.ts";
import { naiveLock } from "../../apps/bench/src/contenders/naive-lock.ts";
import { pgboss } from "../../apps/bench/src/contenders/pg-boss.ts";
import { pgRowLock } from "../../apps/bench/src/contenders/pg-row-lock.ts";
import { RECOVERY_SETTINGS } from "../../apps/bench/src/contenders/recovery-settings.ts";
import { redlock } from "../../apps/bench/src/contenders/redlock.ts";
import { judge, startLive, type Live } from "../../apps/bench/src/rounds/live.ts";
import { eventually } from "../support/index.ts";

const PEERS: readonly Contender[] = [groupmq, graphile, pgboss, redlock, naiveLock, pgRowLock];
const WITHIN_MS = 60_000;

let sandbox: Sandbox;
let prefixes = 0;

beforeAll(async () => {
  sandbox = await startSandbox({ postgres: { fast: true }, redis: { appendOnly: false } });
});

afterAll(async () => {
  await sandbox.stop();
});

/** Its process runs from source, so that the test needs nothing built. */
async function liveOf(peer: Contender, env: Readonly<Record<string, string>> = {}): Promise<Live> {
  prefixes += 1;
  const fromSource = {
    ...peer,
    script: peer.script.replace("/dist/", "/src/").replace(/\.js$/u, ".ts"),
  };
  const live = await startLive(fromSource, {
    sandbox,
    prefix: `peer-${prefixes}`,
    warmUp: 0,
    env: { NODE_OPTIONS: "--conditions=@junban/source --import=tsx", BENCH_CONCURRENCY: "16", ...env },
  });
  onTestFinished(async () => live.stop());
  return live;
}

async function untilNothingIsLeft({ carrier }: Live): Promise<void> {
  await eventually(async () => expect(await carrier.left()).toBe(0), { withinMs: WITHIN_MS });
}

async function hasHappened({ ground }: Live, what: string): Promise<boolean> {
  const redis = new Redis(ground.redisUrl);
  onTestFinished(() => redis.disconnect());
  return (await redis.exists(`${ground.prefix}:bench:${what}`)) === 1;
}

function eventsOf(seed: number): readonly EventEnvelope[] {
  return trafficOf({ orders: 3, events: 100, skew: "uniform", seed });
}

test.each(PEERS)("$name applies every event of three orders, and none twice", async (peer) => {
  const live = await liveOf(peer);
  const events = eventsOf(1);
  await live.carrier.publish(events.slice(0, 60));
  await live.carrier.publish(events.slice(60));
  await untilNothingIsLeft(live);
  const verdict = await judge(live, events);
  expect(verdict).toMatchObject({ lost: 0, doubled: 0 });
  if (peer.promises === "publish order") expect(verdict.inversions).toBe(0);
});

test.each(PEERS)("$name tries an event again that failed once, and loses nothing", async (peer) => {
  const events = eventsOf(2);
  const id = events[10]?.id ?? "";
  const best = RECOVERY_SETTINGS[peer.name]?.best.env ?? {};
  const live = await liveOf(peer, { ...best, BENCH_FAIL_ONCE: id });
  await live.carrier.publish(events);
  await untilNothingIsLeft(live);
  expect(await judge(live, events)).toMatchObject({ lost: 0, doubled: 0 });
  expect(await hasHappened(live, `fail-once:${id}`)).toBe(true);
});

test.each(PEERS)(
  "$name holds the event it was asked to hang on, and counts it among what is left",
  async (peer) => {
    const events = eventsOf(3);
    const id = events[0]?.id ?? "";
    const live = await liveOf(peer, { BENCH_HANG_ON: id });
    await live.carrier.publish(events);
    for (const tree of live.trees) await tree.waitForLine(`holding ${id}`);
    expect(await live.carrier.left()).toBeGreaterThan(0);
    for (const tree of live.trees) await tree.stop({ signal: "SIGKILL" });
    const { lost } = await judge(live, events);
    expect(lost).toBeGreaterThan(0);
  },
);

test("says the version of each peer that is installed", async () => {
  const manifest = JSON.parse(
    await readFile(new URL("../../apps/bench/package.json", import.meta.url), "utf8"),
  ) as { dependencies: Readonly<Record<string, string>> };
  const installed = Object.entries(manifest.dependencies).map(([name, version]) => `${name} ${version}`);
  for (const { version } of PEERS) expect(installed).toContain(version);
});

test("gives a reason for every setting of every peer, and settings for its recovery", () => {
  for (const { name, settings } of PEERS) {
    expect(settings.filter(({ why }) => why.length < 10)).toEqual([]);
    expect(RECOVERY_SETTINGS).toHaveProperty([name]);
  }
});
