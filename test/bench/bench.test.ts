import { chmod, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProcessTree, startProcess, stillRunning, treeMembers } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";

/** Compiled before the tests run, as the processes that are measured are compiled ones too. */
const BENCH = fileURLToPath(new URL("../../apps/bench/dist/main.js", import.meta.url));
/** A bound, not an expectation: machines that run other things at the same time are slow. */
const LONG_MS = 240_000;

interface Started {
  readonly tree: ProcessTree;
  readonly leftBehind: () => Promise<readonly string[]>;
}

/** With a folder for temporary files of its own, so that what is left behind can be told from other people's. */
async function startBench(args: readonly string[]): Promise<Started> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "junban-bench-test-"));
  await chmod(folder, 0o755);
  const tree = await startProcess({
    command: process.execPath,
    args: [BENCH, ...args],
    env: { PATH: process.env["PATH"], TMPDIR: folder, DATABASE_URL: "postgres://127.0.0.1:1/real" },
  });
  onTestFinished(async () => {
    await tree.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return { tree, leftBehind: () => readdir(folder) };
}

const FIGURES = [
  "eventsPerSecond",
  "p50Ms",
  "p99Ms",
  "inversions",
  "lost",
  "doubled",
  "left",
  "cpuSecondsPer1000",
  "redisCpuSecondsPer1000",
  "postgresCpuSecondsPer1000",
  "redisCallsPerEvent",
  "redisTripsPerEvent",
  "postgresTripsPerEvent",
  "postgresTripsPerTransaction",
];

type Row = Readonly<Record<string, number | string | null>>;

test(
  "a run ends with one document of figures in which Junban lost, doubled and reordered nothing, and leaves nothing behind",
  { timeout: LONG_MS },
  async () => {
    const args = [
      "--workload",
      "zipf",
      "--events",
      "200",
      "--peers",
      "bullmq-noop",
      "--rounds",
      "1",
      "--json",
      "--plot",
    ];
    const { tree, leftBehind } = await startBench(args);
    await tree.waitForLine(/round 1\/1 junban/u, { withinMs: LONG_MS });
    const members = treeMembers(tree.pid);
    expect(await tree.exited, tree.stderr()).toEqual({ code: 0, signal: null });

    const run = JSON.parse(tree.stdout()) as { results: readonly Row[]; ratios: Row; machine: Row };
    expect(run).toMatchObject({ workload: "zipf", events: 200, seed: 1, rounds: 1 });
    expect(run.machine).toMatchObject({ node: process.version });
    expect(run.machine["postgres"]).toMatch(/^\d+\.\d+/u);
    expect(run.machine["redis"]).toMatch(/^\d+\.\d+/u);
    const [junban, noop] = run.results;
    for (const row of run.results) expect(Object.keys(row)).toEqual(["name", ...FIGURES]);
    expect(junban).toMatchObject({ name: "junban", inversions: 0, lost: 0, doubled: 0, left: 0 });
    // CPU time is only told by Linux.
    const always = FIGURES.filter((name) => !/cpu/iu.test(name));
    for (const name of always) expect(junban?.[name], name).toEqual(expect.any(Number));
    expect(noop).toMatchObject({ name: "bullmq-noop", p50Ms: null, inversions: null, lost: null, left: 0 });
    const rates = [junban, noop].map((row) => Number(row?.["eventsPerSecond"]));
    expect(run.ratios).toEqual({ "bullmq-noop": rates[0]! / rates[1]! });

    // Drawn where no folder was named, as standard error says.
    const drawn = /drew (\S+)$/mu.exec(tree.stderr())?.[1] ?? "";
    expect(await readFile(drawn, "utf8")).toContain("<svg");

    expect(stillRunning(members)).toEqual([]);
    expect(await leftBehind()).toEqual(["junban-bench"]);
  },
);

test("a profile of the command says where it put its flame graph", { timeout: LONG_MS }, async () => {
  const args = ["--profile", "--workload", "hot", "--events", "100", "--peers", ""];
  const { tree, leftBehind } = await startBench(args);
  expect(await tree.exited, tree.stderr()).toEqual({ code: 0, signal: null });
  expect(tree.stdout()).toContain("hot, junban");
  const folder = /profiles and flame graphs are in (\S+)$/mu.exec(tree.stderr())?.[1] ?? "";
  expect(await readdir(folder)).toEqual(expect.arrayContaining(["junban.svg", "profile.txt"]));
  expect(await leftBehind()).toEqual(["junban-bench"]);
});

test("Ctrl-C in the middle of a round takes everything down", { timeout: LONG_MS }, async () => {
  const { tree, leftBehind } = await startBench([
    "--events",
    "100",
    "--peers",
    "sql-ceiling",
    "--rounds",
    "9",
  ]);
  await tree.waitForLine(/round 1\/9 junban/u, { withinMs: LONG_MS });
  // The next contender is at work: it keeps its events in a folder of its own.
  await eventually(async () => expect((await leftBehind()).join()).toContain("junban-bench-"), {
    withinMs: LONG_MS,
  });
  const members = treeMembers(tree.pid);
  process.kill(tree.pid, "SIGINT");
  expect(await tree.exited, tree.stderr()).toEqual({ code: 130, signal: null });
  expect(tree.stdout()).toBe("");
  expect(stillRunning(members)).toEqual([]);
  expect(await leftBehind()).toEqual([]);
});

test("bad usage exits 2 and starts nothing", { timeout: LONG_MS }, async () => {
  const { tree, leftBehind } = await startBench(["--workload", "warm"]);
  expect(await tree.exited).toEqual({ code: 2, signal: null });
  expect(tree.stderr()).toContain("there is no workload warm; one of hot, zipf, uniform");
  expect(tree.stdout()).toBe("");
  expect(await leftBehind()).toEqual([]);
});
