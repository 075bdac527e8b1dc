import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { capacityBlockOf } from "../../apps/bench/src/report/capacity.ts";
import { readKept, runsOf } from "../../apps/bench/src/report/kept.ts";
import { differences, publish, resultsFile } from "../../apps/bench/src/report/published.ts";
import { withBlock } from "../../apps/bench/src/report/readme.ts";
import { BACKLOGS, OWN, runOf } from "../../apps/bench/src/report/rows.ts";
import { SAMPLE } from "./sample-results.ts";

const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const PAGE = readFileSync(join(DOCS, "capacity.md"), "utf8");
const LINE_OF_ARITHMETIC = /(?<expression>\(?\d[\d.,()+−×÷ ]*[+−×÷] [\d.,]+) = (?<result>\d[\d.,]*)/gu;

/** Works out text such as `(2,000 − 1,500) × 600`. */
function workedOut(expression: string): number {
  const innermost = /\((?<inside>[^()]+)\)/u.exec(expression);
  if (innermost !== null) {
    return workedOut(expression.replace(innermost[0], String(workedOut(innermost.groups?.["inside"] ?? ""))));
  }
  const [first = "", ...rest] = expression.split(/ (?=[+−])/u);
  return rest.reduce((sum, term) => {
    const value = product(term.slice(1).trim());
    return term.startsWith("+") ? sum + value : sum - value;
  }, product(first));
}

function product(expression: string): number {
  const [first = "", ...rest] = expression.split(/ (?=[×÷])/u);
  return rest.reduce((value, factor) => {
    const by = numberOf(factor.slice(1).trim());
    return factor.startsWith("×") ? value * by : value / by;
  }, numberOf(first));
}

function numberOf(text: string): number {
  return Number(text.replaceAll(",", ""));
}

/** The figures the page reckons with, by their names. */
function reckonedWith(): (figure: string) => number {
  const [, text = ""] = PAGE.split(/<!-- planning:(?:begin|end) -->/u);
  const rows = text.split("\n").map((line) => line.split("|").map((part) => part.trim()));
  return (figure) => numberOf(rows.find(([, name = ""]) => name.startsWith(figure))?.[2] ?? "missing");
}

test("the arithmetic of docs/capacity.md comes out as it stands there", () => {
  const lines = [...PAGE.matchAll(LINE_OF_ARITHMETIC)].map(({ groups }) => groups ?? {});
  expect(lines.length).toBeGreaterThan(25);
  const wrong = lines.filter(({ expression = "", result = "" }) => {
    const decimals = /\.(?<digits>\d+)$/u.exec(result)?.groups?.["digits"]?.length ?? 0;
    return workedOut(expression).toFixed(decimals) !== numberOf(result).toFixed(decimals);
  });
  expect(wrong.map(({ expression, result }) => `${expression} = ${result}`)).toEqual([]);
});

test("docs/capacity.md reckons with nothing kinder than what was measured", async () => {
  const figure = reckonedWith();
  const kept = await readKept(resultsFile({ folder: DOCS, readme: null }));
  const runs = kept === null ? [] : runsOf(kept);
  const backlogs = BACKLOGS.flatMap(
    (name) => runOf(runs, name)?.results.filter((row) => row.name === OWN) ?? [],
  );
  const dearest = (costs: readonly (number | null)[]): number =>
    Math.max(...costs.map((secondsPer1000) => 1_000 * (secondsPer1000 ?? 0)));
  expect(figure("worker")).toBeGreaterThanOrEqual(dearest(backlogs.map((row) => row.cpuSecondsPer1000)));
  expect(figure("Redis")).toBeGreaterThanOrEqual(dearest(backlogs.map((row) => row.redisCpuSecondsPer1000)));
  expect(figure("Postgres")).toBeGreaterThanOrEqual(
    dearest(backlogs.map((row) => row.postgresCpuSecondsPer1000)),
  );
  const hot = runOf(runs, "hot")?.results.find(({ name }) => name === OWN);
  expect(figure("events of one order")).toBeLessThanOrEqual(hot?.eventsPerSecond ?? Number.POSITIVE_INFINITY);
  const resident = (runOf(runs, "memory")?.results ?? []).map(
    ({ residentBytes }) => residentBytes / 1_048_576,
  );
  expect(figure("memory")).toBeGreaterThanOrEqual(Math.max(0, ...resident));
});

test("docs/capacity.md reckons with gateways, forwarders and a relay no faster than measured", async () => {
  const figure = reckonedWith();
  const kept = await readKept(resultsFile({ folder: DOCS, readme: null }));
  const runs = kept === null ? [] : runsOf(kept);
  const publishers =
    runOf(runs, "publish")?.results.filter(({ name, at }) => name === OWN && at === 256) ?? [];
  for (const { eventsPerSecond } of publishers) {
    expect(figure("events a publisher puts in a second, 256")).toBeLessThanOrEqual(eventsPerSecond);
  }
  const relay = runOf(runs, "relay")?.results.find(({ arm }) => arm === "relay");
  expect(figure("updates a relay")).toBeLessThanOrEqual(relay?.eventsPerSecond ?? Number.POSITIVE_INFINITY);
  for (const { door, at, eventsPerSecond } of runOf(runs, "gateway")?.results ?? []) {
    if (door !== "gateway") continue;
    const each = at === 1 ? "one a request" : `${at} a request`;
    expect(figure(`events a gateway takes a second, ${each}`)).toBeLessThanOrEqual(eventsPerSecond);
  }
});

test("measured figures are written into docs/capacity.md, and one changed by hand is named", async () => {
  expect(capacityBlockOf(SAMPLE)).toMatch(/^\| hot \| 5,590 \|.*\n/mu);
  expect(withBlock(PAGE, capacityBlockOf(SAMPLE))).not.toBeNull();
  const folder = await mkdtemp(join(tmpdir(), "junban-capacity-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const places = { folder, readme: null };
  const page = join(folder, "capacity.md");
  await writeFile(page, PAGE);
  await publish(SAMPLE, places);
  await writeFile(resultsFile(places), JSON.stringify(SAMPLE));
  expect(await differences(places)).toEqual([]);
  await writeFile(page, (await readFile(page, "utf8")).replace("| hot | 5,590", "| hot | 9,999"));
  expect(await differences(places)).toEqual(["capacity.md's block"]);
});
