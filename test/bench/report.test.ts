import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { brokenPromises } from "../../apps/bench/src/report/broken-promises.ts";
import { readKept, runsOf, writeKept, type Kept } from "../../apps/bench/src/report/kept.ts";
import { measure, type MeasureOptions } from "../../apps/bench/src/report/measure.ts";
import { readOptions } from "../../apps/bench/src/report/options.ts";
import { pageOf } from "../../apps/bench/src/report/page.ts";
import { pictureOf } from "../../apps/bench/src/report/pictures.ts";
import {
  differences,
  publish,
  readNotes,
  resultsFile,
  type Places,
} from "../../apps/bench/src/report/published.ts";
import { blockOf, withBlock } from "../../apps/bench/src/report/readme.ts";
import { measuredTargets, unexplained } from "../../apps/bench/src/report/targets.ts";
import type { Run } from "../../apps/bench/src/results.ts";
import { WORKLOADS } from "../../apps/bench/src/workloads/index.ts";
import { QUICK_WORKLOADS } from "../../apps/bench/src/workloads/quick.ts";
import type { Workload } from "../../apps/bench/src/workloads/workload.ts";
import { SAMPLE } from "./sample-results.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PUBLISHED: Places = { folder: join(ROOT, "docs"), readme: join(ROOT, "README.md") };

const folders: string[] = [];

/** A folder of its own with these results, and a README with room for the block. */
async function placesWith(kept: Kept): Promise<Places> {
  const folder = await mkdtemp(join(tmpdir(), "junban-report-"));
  folders.push(folder);
  const places = { folder, readme: join(folder, "README.md") };
  await writeFile(places.readme, "before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n");
  await writeKept(resultsFile(places), kept);
  return places;
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

function sampleRun(name: string): Run<unknown> {
  const run = runsOf(SAMPLE).find(({ workload }) => workload === name);
  if (run === undefined) throw new Error(`the sample has no ${name}`);
  return run;
}

describe("what is published", () => {
  test("is what the results make: page, pictures, and the README's block", async () => {
    expect(await differences(PUBLISHED)).toEqual([]);
  });

  test("says of every figure that fell short what stands in the way, is no quick run, and breaks no promise", async () => {
    const kept = await readKept(resultsFile(PUBLISHED));
    expect(kept === null ? [] : unexplained(kept, await readNotes(PUBLISHED))).toEqual([]);
    expect(kept?.quick ?? false).toBe(false);
    expect(kept === null ? [] : runsOf(kept).flatMap(brokenPromises)).toEqual([]);
  });

  test("the same results make the same files, and a file that was changed by hand is named", async () => {
    const places = await placesWith(SAMPLE);
    expect(await differences(places)).toHaveLength(2 + SAMPLE.workloads.length);
    await publish(SAMPLE, places);
    expect(await differences(places)).toEqual([]);
    await writeFile(join(places.folder, "benchmarks", "hot.svg"), "<svg/>");
    expect(await differences(places)).toEqual(["benchmarks/hot.svg"]);
    const page = join(places.folder, "benchmarks.md");
    await writeFile(page, (await readFile(page, "utf8")).replace("5,590", "9,999"));
    expect(await differences(places)).toEqual(["benchmarks.md", "benchmarks/hot.svg"]);
  });

  test("the README keeps what stands around the block; without a place for it, it differs", async () => {
    const places = await placesWith(SAMPLE);
    await publish(SAMPLE, places);
    const readme = await readFile(join(places.folder, "README.md"), "utf8");
    expect(readme).toMatch(/^before\n<!-- bench:begin -->[^]*10\.4 ×[^]*<!-- bench:end -->\nafter\n$/);
    expect(withBlock("no room", blockOf(SAMPLE))).toBeNull();
    await writeFile(join(places.folder, "README.md"), "no room");
    expect(await differences(places)).toEqual(["the README's block"]);
  });
});

describe("the page", () => {
  test("has a picture and a table of every workload that can be measured", () => {
    const page = pageOf(SAMPLE, {});
    expect(runsOf(SAMPLE).map(({ workload }) => workload)).toEqual(WORKLOADS.map(({ name }) => name));
    for (const { name } of WORKLOADS) {
      expect(pictureOf(sampleRun(name))).toContain("<svg");
      expect(page).toContain(`![${name}](benchmarks/${name}.svg)`);
    }
  });

  test("tells of each contender its version, its settings and where they come from", () => {
    const page = pageOf(SAMPLE, {});
    for (const { version } of SAMPLE.contenders) expect(page).toContain(version);
    expect(page).toContain(
      "| `groupId` | lcid | one group an order | https://www.npmjs.com/package/groupmq |",
    );
  });

  test("says when it is quick, of several sittings, of changed files, and of different machines", () => {
    expect(pageOf(SAMPLE, {})).not.toMatch(/quick run|sittings|not committed|different machines/);
    const [first] = SAMPLE.sittings;
    const [hot, ...others] = SAMPLE.workloads;
    if (first === undefined || hot === undefined) throw new Error("the sample is empty");
    const machine = { ...hot.run.machine, cores: 64 };
    const page = pageOf(
      {
        ...SAMPLE,
        quick: true,
        sittings: [first, { ...first, changed: true }],
        workloads: [...others, { ...hot, sitting: 1, run: { ...hot.run, machine } }],
      },
      {},
    );
    expect(page).toMatch(/quick run/);
    expect(page).toMatch(/2 sittings/);
    expect(page).toMatch(/not committed/);
    expect(page).toMatch(/different machines/);
  });

  test("can be made of any part of the results", () => {
    for (const entry of SAMPLE.workloads) {
      const page = pageOf({ ...SAMPLE, workloads: [entry] }, {});
      expect(page).toContain(`benchmarks/${entry.run.workload}.svg`);
    }
    expect(pageOf({ ...SAMPLE, workloads: [] }, {})).toContain("not measured");
  });
});

describe("a target", () => {
  const withHot = (groupmq: number): Kept => ({
    ...SAMPLE,
    workloads: SAMPLE.workloads.flatMap((entry) =>
      entry.run.workload === "hot" ? [{ ...entry, run: { ...entry.run, ratios: { groupmq } } }] : [],
    ),
  });
  const standingOf = (kept: Kept, id: string): string | undefined =>
    measuredTargets(kept).find(({ target }) => target.id === id)?.standing;

  test.each([
    [25, "reached"],
    [20, "reached"],
    [19.9, "met"],
    [10, "met"],
    [9.9, "short"],
  ])("at %s times groupmq is %s", (ratio, standing) => {
    expect(standingOf(withHot(ratio), "hot/groupmq")).toBe(standing);
    expect(standingOf(withHot(ratio), "zipf/groupmq")).toBe("not measured");
  });

  test("that is not reached asks for a word, and the page marks that nobody said one", () => {
    expect(unexplained(withHot(12), {})).toEqual(["hot/groupmq"]);
    expect(pageOf(withHot(12), {})).toContain("**nobody has explained this yet** (`hot/groupmq`)");
    const notes = { "hot/groupmq": "One core does it all." };
    expect(unexplained(withHot(12), notes)).toEqual([]);
    expect(pageOf(withHot(12), notes)).toContain("One core does it all.");
    expect(pageOf(withHot(25), notes)).not.toContain("One core does it all.");
  });

  test("of recovery counts from the end of the lease, in the slower of its settings", () => {
    const found = measuredTargets(SAMPLE).find(({ target }) => target.id === "recovery/lease");
    expect(found?.value).toBe(310);
    expect(found?.standing).toBe("reached");
  });
});

describe("a picture", () => {
  test("tells of each contender its figure, and of those that did harm what they did", () => {
    const picture = pictureOf(sampleRun("hot"));
    for (const says of ["5,590", "538", "339, 1,751 out of order", "39 (cut off, 3,120 left)", "12,862"]) {
      expect(picture).toContain(says);
    }
    expect(picture).toContain("<pattern");
    expect(pictureOf(sampleRun("memory"))).not.toContain("<pattern");
  });

  test("draws what had not ended as long as it was waited for, and says so", () => {
    expect(pictureOf(sampleRun("recovery"))).toContain("not within 60 s, 20 of 50 decided");
  });

  test("has a ground of its own, so that it can be read on a dark page", () => {
    for (const run of runsOf(SAMPLE)) expect(pictureOf(run)).toMatch(/<rect [^>]*fill="#ffffff"/i);
  });

  test("of what nobody knows, or of nothing, is none", () => {
    expect(pictureOf({ ...sampleRun("hot"), workload: "other" })).toBeNull();
    expect(pictureOf({ ...sampleRun("hot"), results: [] })).toBeNull();
  });
});

describe("bench:report", () => {
  const workload = (name: string, run: Workload<unknown>["run"]): Workload<unknown> => ({
    name,
    what: name,
    defaultEvents: 8_000,
    run,
    table: () => [name],
  });
  const plain = (name: string, ran: string[] = []): Workload<unknown> =>
    workload(name, async () => {
      ran.push(name);
      return sampleRun(name);
    });
  const optionsOf = (rest: Partial<MeasureOptions>, said: string[] = []): MeasureOptions => ({
    workloads: [],
    before: null,
    again: [],
    quick: false,
    sitting: { startedAt: "2026-12-01T00:00:00.000Z", commit: "def5678", changed: false },
    earlier: [],
    keep: async () => undefined,
    ...rest,
    stage: {
      // No workload here looks at the servers.
      sandbox: {} as MeasureOptions["stage"]["sandbox"],
      machine: sampleRun("hot").machine,
      contenders: [],
      say: (line) => said.push(line),
      signal: new AbortController().signal,
    },
  });

  test("keeps each workload at once, and goes on after an interruption with what is missing", async () => {
    let last: Kept | null = null;
    const keep = async (kept: Kept): Promise<void> => {
      last = structuredClone(kept);
    };
    const ending = new AbortController();
    const interrupted = workload("zipf", async () => {
      ending.abort(new Error("cut short"));
      throw new Error("in the middle");
    });
    const options = optionsOf({ workloads: [plain("hot"), interrupted], keep });
    const stage = { ...options.stage, signal: ending.signal };
    await expect(measure({ ...options, stage })).rejects.toThrow("cut short");
    const ran: string[] = [];
    const all = [plain("hot", ran), plain("zipf", ran)];
    const { kept } = await measure(optionsOf({ workloads: all, before: last, keep }));
    expect(ran).toEqual(["zipf"]);
    expect(kept?.workloads.map(({ sitting, run }) => [sitting, run.workload])).toEqual([
      [0, "hot"],
      [1, "zipf"],
    ]);
    expect(kept?.sittings).toHaveLength(2);
    expect(last).toEqual(kept);
  });

  test("a workload that breaks off is named, costs none of those behind it, and loses nothing that was kept of it", async () => {
    const broken = workload("zipf", async () => {
      throw new Error("no rows");
    });
    const said: string[] = [];
    const workloads = [plain("hot"), broken, plain("uniform")];
    const first = await measure(optionsOf({ workloads }, said));
    expect(first.failed).toEqual(["zipf"]);
    expect(first.kept?.workloads.map(({ run }) => run.workload)).toEqual(["hot", "uniform"]);
    expect(said.join("\n")).toMatch(/workload zipf broke off: Error: no rows/u);
    const second = await measure(optionsOf({ workloads: [broken], before: SAMPLE, again: ["zipf"] }));
    expect(second).toEqual({ kept: SAMPLE, failed: ["zipf"] });
    expect(await measure(optionsOf({ workloads: [broken] }))).toEqual({ kept: null, failed: ["zipf"] });
  });

  test("runs again what is named, and with nothing left to run answers what is kept as it is", async () => {
    const ran: string[] = [];
    const again = await measure(
      optionsOf({ workloads: [plain("hot", ran)], before: SAMPLE, again: ["hot"] }),
    );
    expect(ran).toEqual(["hot"]);
    expect(again.kept?.workloads).toHaveLength(SAMPLE.workloads.length);
    expect(await measure(optionsOf({ workloads: [plain("hot")], before: SAMPLE }))).toEqual({
      kept: SAMPLE,
      failed: [],
    });
  });

  test("says how long it takes as far as that was measured before", async () => {
    const said: string[] = [];
    const workloads = [plain("hot"), plain("zipf"), plain("uniform")];
    await measure(optionsOf({ workloads, earlier: SAMPLE.workloads.slice(1) }, said));
    expect(said.filter((line) => line.startsWith("workload "))).toEqual([
      expect.stringMatching(/^workload 1 of 3, hot: .*nobody knows.*then about 4 min for the others$/),
      "workload 2 of 3, zipf: zipf; about 2 min, then about 2 min for the others",
      "workload 3 of 3, uniform: uniform; about 2 min",
    ]);
  });

  test("runs the same workloads when it is quick", () => {
    expect(QUICK_WORKLOADS.map(({ name }) => name)).toEqual(WORKLOADS.map(({ name }) => name));
  });

  test("refuses what it does not know", () => {
    const known = [{ name: "hot" }, { name: "zipf" }];
    expect(readOptions(["--only", "hot,cold"], known)).toMatch(/some of hot, zipf/);
    expect(readOptions(["--only", ","], known)).toMatch(/some of hot, zipf/);
    expect(readOptions(["--draw", "--quick"], known)).toMatch(/--draw measures nothing/);
    expect(readOptions(["--fast"], known)).toMatch(/--fast/);
    expect(readOptions(["--help"], known)).toBeNull();
    expect(readOptions(["--only", "zipf", "--resume"], known)).toEqual({
      quick: false,
      only: ["zipf"],
      out: null,
      resume: true,
      draw: false,
    });
  });
});
