import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { Profiler } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hotStory } from "@junban/order-stories";
import { expect, onTestFinished, test } from "vitest";
import { junban } from "../../apps/bench/src/contenders/junban.ts";
import { readCommandStats } from "../../apps/bench/src/profile/command-times.ts";
import { callsBetween } from "../../apps/bench/src/profile/cpu-profile.ts";
import { flameSvg } from "../../apps/bench/src/profile/flame.ts";
import { timesOf } from "../../apps/bench/src/profile/layers.ts";
import type { ProfileReport } from "../../apps/bench/src/profile/report.ts";
import { runProfile } from "../../apps/bench/src/profile/run-profile.ts";

/** A worker from its sources, with servers of its own, on a machine that may have much else to do. */
const WHOLE_RUN_MS = 180_000;
const ROOT = "file:///somewhere/junban";
const FRAMES: readonly (readonly [id: number, name: string, url: string, children: readonly number[]])[] = [
  [1, "(root)", "", [2, 3, 4, 12]],
  [2, "(idle)", "", []],
  [3, "(garbage collector)", "", []],
  [4, "runMicrotasks", "", [5, 9]],
  [5, "commit", `${ROOT}/packages/order-store/dist/transaction.js`, [6]],
  [6, "query", `${ROOT}/node_modules/pg/lib/client.js`, [7, 8]],
  [7, "write", "node:internal/streams/writable", []],
  [8, "writev", "", []],
  [9, "", `${ROOT}/apps/worker/dist/job.js`, [10, 11]],
  [10, "decode<T>", `${ROOT}/node_modules/pg-protocol/dist/parser.js`, []],
  [11, "utf8Slice", "", []],
  [12, "onStreamRead", "node:internal/stream_base_commons", []],
];

/** Samples of these nodes, one each 200 µs from the moment 1,000 on, or as far from the one before as is said. */
function profileOf(samples: readonly (number | readonly [id: number, afterUs: number])[]): Profiler.Profile {
  const taken = samples.map((sample) => (typeof sample === "number" ? ([sample, 200] as const) : sample));
  const deltas = taken.map(([, afterUs], index) => (index === 0 ? 0 : afterUs));
  return {
    nodes: FRAMES.map(([id, functionName, url, children]) => ({
      id,
      callFrame: { functionName, url, scriptId: "0", lineNumber: 6, columnNumber: 0 },
      children: [...children],
    })),
    startTime: 1_000,
    endTime: 1_000 + deltas.reduce((sum, delta) => sum + delta, 0) + 200,
    samples: taken.map(([id]) => id),
    timeDeltas: deltas,
  };
}

const EVERYTHING = { fromUs: 0, toUs: 1e9 };

function layersOf(profile: Profiler.Profile, within = EVERYTHING): Readonly<Record<string, number>> {
  const { layers } = timesOf(callsBetween(profile, within).root);
  return Object.fromEntries(layers.map(({ layer, selfUs }) => [layer, selfUs]));
}

test("gives Node's own work to the package that asked for it, and what nobody asked for a name of its own", () => {
  expect(layersOf(profileOf([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12]))).toEqual({
    idle: 200,
    "garbage collection": 200,
    promises: 200,
    "order-store": 200,
    pg: 600,
    "socket writes": 200,
    worker: 400,
    node: 400,
  });
});

test("names functions by their package and line, the longest on top first", () => {
  const { functions } = timesOf(callsBetween(profileOf([6, 6, 9, 8, 8, 8]), EVERYTHING).root);
  expect(functions.map(({ name, place, layer, selfUs }) => [name, place, layer, selfUs])).toEqual([
    ["writev", "native", "socket writes", 600],
    ["query", "pg/lib/client.js:7", "pg", 400],
    ["(anonymous)", "worker/job.js:7", "worker", 200],
  ]);
});

test("counts nothing from before and after the stretch it is asked about", () => {
  expect(layersOf(profileOf([5, 5, 5, 9, 9, 6]), { fromUs: 1_400, toUs: 1_900 })).toEqual({
    "order-store": 200,
    worker: 300,
  });
});

test("blames nobody for a time in which no sample was taken, unless the loop was waiting", () => {
  const profile = profileOf([5, [9, 50_000], 2, [9, 50_000]]);
  expect(layersOf(profile)).toEqual({ "order-store": 1_000, worker: 400, idle: 50_000 });
  expect(callsBetween(profile, EVERYTHING).unseenUs).toBe(49_000);
});

test("draws calls as wide as their time, without the time of waiting, in one file that asks for nothing else", () => {
  const { root } = callsBetween(profileOf([2, 2, 5, 6, 10, 10]), EVERYTHING);
  const svg = flameSvg(root, { title: "a & b" });
  expect(svg).toContain("a &amp; b");
  expect(svg).toContain("commit — order-store/transaction.js:7 — order-store: 50.00 %, itself 25.00 %");
  expect(svg).toContain("decode&lt;T&gt; — pg-protocol/parser.js:7 — pg: 50.00 %");
  expect(svg).not.toContain("(idle)");
  expect(svg).not.toMatch(/href|<script|url\(/u);
  expect(svg.match(/<g>/gu)).toHaveLength(svg.match(/<\/g>/gu)?.length ?? 0);
});

test("reads what Redis tells of its commands", () => {
  const text =
    "# Commandstats\r\ncmdstat_config|get:calls=3,usec=50,usec_per_call=16.67\r\ncmdstat_evalsha:calls=2,usec=90,usec_per_call=45.00\r\n";
  expect(readCommandStats(text)).toEqual([
    { command: "evalsha", calls: 2, totalUs: 90 },
    { command: "config|get", calls: 3, totalUs: 50 },
  ]);
});

test(
  "profiles a worker over its backlog: layers, functions, commands and statements, as text, JSON and picture",
  { timeout: WHOLE_RUN_MS },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "junban-profile-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const contender = {
      ...junban,
      script: fileURLToPath(new URL("../../apps/worker/src/main.ts", import.meta.url)),
      env: { NODE_OPTIONS: "--import tsx --conditions @junban/source" },
    };
    const events = hotStory({ lcid: "HOT-1", events: 150, seed: 1 });
    const text = await runProfile({
      folder,
      workload: "hot",
      events,
      contenders: [contender],
      warmUp: 100,
      withinMs: 60_000,
    });

    expect(await readFile(join(folder, "profile.txt"), "utf8")).toBe(text);
    expect(text).toContain("hot, junban: 150 events");
    expect(await readFile(join(folder, "junban.svg"), "utf8")).toContain("order-store");
    const { contenders } = JSON.parse(await readFile(join(folder, "profile.json"), "utf8")) as {
      contenders: ProfileReport[];
    };
    const [report] = contenders;
    expect(report?.layers.map(({ layer }) => layer)).toEqual(
      expect.arrayContaining(["order-store", "ioredis"]),
    );
    expect(report?.commands.map(({ command }) => command)).toContain("evalsha");
    const inserted = report?.statements.find(({ text: statement }) =>
      /insert into order_events/iu.test(statement),
    );
    expect(inserted?.calls).toBeLessThanOrEqual(150);
  },
);
