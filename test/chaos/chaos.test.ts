import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { FAULTS, mixed } from "../../apps/chaos/src/faults/index.ts";

/** Compiled before the tests run, as the fleet under fault is the compiled one too. */
const CHAOS = fileURLToPath(new URL("../../apps/chaos/dist/main.js", import.meta.url));
const SOAK = fileURLToPath(new URL("../../apps/chaos/dist/soak/main.js", import.meta.url));
const RUN_WITHIN_MS = 240_000;
const BUSY = 2;

async function startChaos(args: readonly string[]): Promise<ProcessTree> {
  const tree = await startProcess({ command: process.execPath, args: [CHAOS, ...args] });
  onTestFinished(async () => {
    await tree.stop();
  });
  return tree;
}

async function runChaos(args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const tree = await startChaos(args);
  const { code } = await tree.exited;
  return { code, out: tree.stdout(), err: tree.stderr() };
}

describe("while events flow, nothing is lost, doubled, out of order or different, and the fleet recovers, when it", () => {
  test.each([...FAULTS, mixed].map(({ name, does }) => ({ name, does })))(
    "$does",
    async ({ name }) => {
      const seed = String(Math.floor(Math.random() * 1_000_000));
      const { code, out, err } = await runChaos([
        "--fault",
        name,
        "--seconds",
        "1",
        "--seed",
        seed,
        "--json",
      ]);
      const report = JSON.parse(out.trim() || "{}") as Record<string, unknown>;
      // The whole story of a run that failed, with its seed, is what somebody will want to read.
      expect(report["wrong"], err).toEqual([]);
      expect(report).toMatchObject({ fault: name, seed: Number(seed), lost: 0, doubleApplied: 0, drift: 0 });
      if (report["orderPromised"] === true) expect(report["inversions"]).toBe(0);
      expect(report["faultsInjected"]).toBeGreaterThan(0);
      expect(report["published"]).toBeGreaterThan(100);
      // The bound itself is the command's to hold, on a machine with nothing else to do; here others may be at work as well.
      expect(report["recoveredMs"], err).toBeLessThanOrEqual(BUSY * Number(report["boundMs"]));
      const late = report["late"] as readonly string[];
      expect(code).toBe(late.length === 0 ? 0 : 1);
    },
    RUN_WITHIN_MS,
  );
});

test(
  "a short soak loses nothing, and draws its picture",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "junban-soak-"));
    onTestFinished(async () => rm(folder, { recursive: true }));
    const plot = join(folder, "soak.svg");
    const tree = await startProcess({
      command: process.execPath,
      args: [SOAK, "--minutes", "0.5", "--plot", plot, "--json"],
    });
    onTestFinished(async () => {
      await tree.stop();
    });
    const { code } = await tree.exited;
    const report = JSON.parse(tree.stdout().trim() || "{}") as Record<string, unknown>;
    expect(report["wrong"], tree.stderr()).toEqual([]);
    expect(report).toMatchObject({ lost: 0, doubleApplied: 0, inversions: 0, drift: 0, levels: null });
    expect(report["faultsInjected"]).toBeGreaterThan(0);
    expect(await readFile(plot, "utf8")).toContain("memory of a worker");
    expect(code).toBe(0);
  },
  RUN_WITHIN_MS,
);

test.each([
  [["--fault", "nonsense"], /there is no fault nonsense/u],
  [[], /--fault is missing/u],
  [["--fault", "all", "--seconds", "0"], /--seconds is a whole number/u],
  [["--fault", "all", "--seed", "x"], /--seed is a whole number/u],
  [["--what"], /--what/u],
])("bad usage (%j) is told and ends with 2", async (args, says) => {
  const { code, err } = await runChaos(args);
  expect(err).toMatch(says);
  expect(code).toBe(2);
});

test("--help names every fault and what it does", async () => {
  const { code, out } = await runChaos(["--help"]);
  expect(code).toBe(0);
  for (const { name, does } of [...FAULTS, mixed]) {
    expect(out).toContain(name);
    expect(out).toContain(does);
  }
});

test("Ctrl-C in the middle of a fault takes everything down and ends with 130", async () => {
  const tree = await startChaos(["--fault", "kill-worker", "--seconds", "600"]);
  await tree.waitForLine(/was killed/u, { withinMs: 60_000 });
  tree.signal("SIGINT");
  expect(await tree.exited).toEqual({ code: 130, signal: null });
  expect(tree.stderr()).toContain("everything was taken down");
  expect(tree.size()).toBe(0);
});
