import { chmod, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProcessTree, startProcess, stillRunning, treeMembers } from "@junban/sandbox";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { eventually } from "../support/index.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** A bound, not an expectation: machines that run other things at the same time are slow. */
const LONG_MS = 240_000;
/** One that a test without any server notices. */
const QUICK = "sums stay exact integers";

let folder = "";
let started: ProcessTree[] = [];

/** A folder for temporary files of its own, so that what is left behind can be told from other people's. */
beforeEach(async () => {
  const parent = await realpath(tmpdir());
  folder = await mkdtemp(join(parent, "junban-mutate-test-"));
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

async function startMutate(args: readonly string[]): Promise<ProcessTree> {
  const { adminUrl, redisUrl } = inject("junban");
  const tree = await startProcess({
    command: process.execPath,
    args: ["--conditions", "@junban/source", "--import", "tsx", MAIN, ...args],
    cwd: ROOT,
    env: {
      PATH: process.env["PATH"],
      TMPDIR: folder,
      JUNBAN_TEST_DATABASE_URL: adminUrl,
      JUNBAN_TEST_REDIS_URL: redisUrl,
    },
  });
  started.push(tree);
  return tree;
}

async function leftBehind(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith("junban-"));
}

test(
  "takes a guard out of a copy, names the test that caught it, and leaves nothing behind",
  async () => {
    const tree = await startMutate(["--only", QUICK, "--json"]);
    expect(await tree.exited, tree.stderr()).toEqual({ code: 0, signal: null });
    expect(JSON.parse(tree.stdout())).toMatchObject({
      guards: 1,
      caught: 1,
      missed: 0,
      results: [{ promise: QUICK, kind: "caught", by: { file: "test/orders/transitions-payment.test.ts" } }],
    });
    expect(await leftBehind()).toEqual([]);
  },
  LONG_MS,
);

test(
  "Ctrl-C in the middle takes everything down",
  async () => {
    const tree = await startMutate(["--only", "orders/src/decide-payment"]);
    await tree.waitForLine("caught", { withinMs: LONG_MS / 2 });
    await eventually(() => treeMembers(tree.pid).length > 1, { withinMs: 60_000 });
    const members = treeMembers(tree.pid);
    tree.signal("SIGINT");
    expect(await tree.exited).toEqual({ code: 130, signal: null });
    expect(stillRunning(members)).toEqual([]);
    expect(await leftBehind()).toEqual([]);
  },
  LONG_MS,
);

test("a wrong option, and a guard that nobody knows, are told before anything is started", async () => {
  for (const [args, code] of [
    [["--fast"], 2],
    [["--parallel", "none"], 2],
    [["--only", "no such guard"], 1],
  ] as const) {
    const tree = await startMutate(args);
    expect(await tree.exited, args.join(" ")).toEqual({ code, signal: null });
    expect(tree.stderr()).not.toBe("");
  }
});
