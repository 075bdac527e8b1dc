import { chmod, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProcessTree, startProcess, stillRunning, treeMembers } from "@junban/sandbox";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/index.ts";

const PROGRAM = fileURLToPath(new URL("../../apps/cli/src/demo/main.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** A bound, not an expectation: machines that run other things at the same time are slow. */
const LONG_MS = 240_000;

let folder = "";
let started: ProcessTree[] = [];

/** A folder for temporary files of its own, so that what is left behind can be told from other people's. */
beforeEach(async () => {
  const parent = await realpath(tmpdir());
  folder = await mkdtemp(join(parent, "junban-demo-test-"));
  await chmod(folder, 0o755);
  // The loader keeps what it compiled there, and would start from nothing otherwise.
  const cache = `tsx-${userInfo().uid}`;
  await symlink(join(parent, cache), join(folder, cache)).catch(() => undefined);
});

afterEach(async () => {
  for (const tree of started) await tree.stop();
  started = [];
  await rm(folder, { recursive: true, force: true });
});

async function startDemo(args: readonly string[]): Promise<ProcessTree> {
  return start(process.execPath, ["--conditions", "@junban/source", "--import", "tsx", PROGRAM, ...args]);
}

async function start(command: string, args: readonly string[]): Promise<ProcessTree> {
  // Without the variables that name servers for tests: these runs are about throwaway ones.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("JUNBAN_TEST_"));
  // Addresses of a real fleet must not matter. Nobody listens on these.
  const env = {
    ...Object.fromEntries(inherited),
    TMPDIR: folder,
    DATABASE_URL: "postgres://127.0.0.1:1/real",
    REDIS_URL: "redis://127.0.0.1:1",
    JUNBAN_PREFIX: "real",
  };
  const tree = await startProcess({ command, args, env, cwd: ROOT });
  started.push(tree);
  return tree;
}

async function leftBehind(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith("tsx-"));
}

test(
  "a run ends with one line of figures in which nothing is lost, out of order or different, and leaves nothing behind",
  { timeout: LONG_MS },
  async () => {
    const demo = await startDemo(["--orders", "60", "--burst", "1500", "--json"]);
    await demo.waitForLine(/nothing is left to do/u, { withinMs: LONG_MS });
    const members = treeMembers(demo.pid);
    expect(members.length).toBeGreaterThan(6);
    expect(await demo.exited).toEqual({ code: 0, signal: null });

    const lines = demo.stdout().trim().split("\n");
    expect(lines).toHaveLength(1);
    const figures = JSON.parse(lines[0]!) as Record<string, number>;
    expect(Object.keys(figures)).toEqual([
      "published",
      "applied",
      "duplicates",
      "rejected",
      "deferred",
      "failed",
      "lost",
      "inversions",
      "drift",
      "seconds",
      "eventsPerSecond",
    ]);
    expect(figures).toMatchObject({ lost: 0, inversions: 0, drift: 0, failed: 0 });
    const { published = 0, applied = 0, duplicates = 0, rejected = 0, deferred = 0, seconds = 0 } = figures;
    expect(published).toBeGreaterThan(2_000);
    expect(applied + duplicates + rejected + deferred).toBe(published);
    expect(seconds).toBeGreaterThan(0);

    const told = demo.stderr();
    expect(told).toMatch(/SIGKILL to worker \d|no worker was killed/u);
    expect(told).toMatch(/61 orders audited/u);
    expect(told).toMatch(/npx junban order \S+ --history\n.*npx junban event \S+ \S+\n.*npx junban audit/u);
    // Escape sequences and rewritten lines are for terminals.
    expect(told).not.toContain("\u001B");
    expect(told).not.toContain("\r");
    expect(stillRunning(members)).toEqual([]);
    expect(await leftBehind()).toEqual([]);
  },
);

test("kept servers answer to the printed addresses until Ctrl-C", { timeout: LONG_MS }, async () => {
  const demo = await startDemo(["--orders", "20", "--burst", "50", "--workers", "1", "--keep"]);
  await demo.waitForLine(/Ctrl-C ends and removes everything/u, { withinMs: LONG_MS });
  const [, databaseUrl] = /export DATABASE_URL='([^']+)'/u.exec(demo.stdout())!;
  const [, redisUrl] = /export REDIS_URL='([^']+)'/u.exec(demo.stdout())!;
  const [, lcid] = /npx junban order (\S+) --history/u.exec(demo.stdout())!;
  const program = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url));
  const asked = await startProcess({
    command: process.execPath,
    args: ["--conditions", "@junban/source", "--import", "tsx", program, "order", lcid!, "--json"],
    env: { PATH: process.env["PATH"], DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  });
  started.push(asked);
  expect(await asked.exited).toEqual({ code: 0, signal: null });
  expect(asked.stdout()).toContain(lcid);

  // Draining a worker is one of the things to try, and takes nothing else down.
  const [, workerPid] = /worker 1 \(pid (\d+)\)/u.exec(demo.stdout())!;
  process.kill(Number(workerPid), "SIGTERM");
  await demo.waitForLine(/Worker 1 .* was asked to end and did, with 0; no worker is left/u, {
    withinMs: LONG_MS,
  });
  const redis = new Redis(redisUrl!);
  expect(await redis.ping()).toBe("PONG");
  redis.disconnect();

  const members = treeMembers(demo.pid);
  process.kill(demo.pid, "SIGINT");
  expect(await demo.exited).toEqual({ code: 0, signal: null });
  expect(stillRunning(members)).toEqual([]);
  expect(await leftBehind()).toEqual([]);
});

test("SIGTERM in the middle of a run takes everything down", { timeout: LONG_MS }, async () => {
  const demo = await startDemo(["--orders", "2000"]);
  await demo.waitForLine(/publishing/u, { withinMs: LONG_MS });
  const members = treeMembers(demo.pid);
  process.kill(demo.pid, "SIGTERM");
  expect(await demo.exited).toEqual({ code: 143, signal: null });
  expect(stillRunning(members)).toEqual([]);
  expect(await leftBehind()).toEqual([]);
});

test(
  "Ctrl-C under npm, which reaches everybody at once, leaves nothing behind",
  { timeout: LONG_MS },
  async () => {
    const demo = await start("npm", ["run", "demo", "--", "--orders", "500"]);
    await demo.waitForLine(/worker 1 .* ready/u, { withinMs: LONG_MS });
    const members = treeMembers(demo.pid);
    process.kill(-demo.pid, "SIGINT");
    const { code, signal } = await demo.exited;
    expect(signal ?? code).not.toBe(0);
    // Whoever starts the demo may be gone first, and the rest is tidied up behind it.
    await eventually(
      async () => {
        expect(stillRunning(members)).toEqual([]);
        expect(await leftBehind()).toEqual([]);
      },
      { withinMs: 60_000 },
    );
  },
);

test("a reader that has seen enough ends the demo without a word", { timeout: LONG_MS }, async () => {
  const script = '{ "$@"; echo "exit $?" >&2; } | head -n 1';
  const demo = process.execPath;
  const args = ["--conditions", "@junban/source", "--import", "tsx", PROGRAM, "--orders", "2000"];
  const shell = await start("sh", ["-c", script, "sh", demo, ...args]);
  await shell.exited;
  expect(shell.stdout().trim().split("\n")).toHaveLength(1);
  expect(shell.stderr().trim()).toBe("exit 141");
  expect(await leftBehind()).toEqual([]);
});

test("a worker that ends by itself ends the demo with its last words", { timeout: LONG_MS }, async () => {
  const demo = await startDemo(["--orders", "2000"]);
  const line = await demo.waitForLine(/worker 1 \(pid \d+\)/u, { withinMs: LONG_MS });
  const pid = Number(/worker 1 \(pid (\d+)\)/u.exec(line)?.[1]);
  await demo.waitForLine(/publishing/u, { withinMs: LONG_MS });
  const members = treeMembers(demo.pid);
  process.kill(pid, "SIGTERM");
  expect(await demo.exited).toEqual({ code: 1, signal: null });
  expect(demo.stderr()).toMatch(/worker 1 \(pid \d+\) ended by itself/u);
  expect(stillRunning(members)).toEqual([]);
  expect(await leftBehind()).toEqual([]);
});

test("bad usage exits 2 and starts nothing", { timeout: LONG_MS }, async () => {
  const demo = await startDemo(["--orders", "0"]);
  expect(await demo.exited).toEqual({ code: 2, signal: null });
  expect(demo.stderr()).toContain("--orders takes a whole number 1…100000");
  expect(demo.stdout()).toBe("");
});
