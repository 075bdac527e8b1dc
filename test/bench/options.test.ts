import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CONTENDERS } from "../../apps/bench/src/contenders/index.ts";
import { HELP, readOptions } from "../../apps/bench/src/options.ts";
import { WORKLOADS } from "../../apps/bench/src/workloads/index.ts";

test("without arguments the hot backlog is measured, Junban first, in its own size", () => {
  expect(readOptions([])).toMatchObject({
    workload: { name: "hot" },
    events: 8_000,
    rounds: 3,
    seed: 1,
    withinMs: 60_000,
    json: false,
    contenders: [
      { name: "junban" },
      { name: "junban-single" },
      { name: "bullmq-noop" },
      { name: "sql-ceiling" },
    ],
  });
});

test("Junban is measured once and first, whoever is named beside it and how often", () => {
  const options = readOptions(["--peers", "bullmq-noop,junban,groupmq,groupmq"]);
  expect(options).toMatchObject({
    contenders: [{ name: "junban" }, { name: "groupmq" }, { name: "bullmq-noop" }],
  });
  expect(readOptions(["--peers", ""])).toMatchObject({ contenders: [{ name: "junban" }] });
  expect(readOptions(["--peers", "all"])).toMatchObject({ contenders: CONTENDERS });
});

test("pictures and profiles go into the folder that is named, and without one into one for temporary files, which the help names", () => {
  const folder = join(tmpdir(), "junban-bench");
  expect(readOptions([])).toMatchObject({ plotFolder: null, profileFolder: null });
  expect(readOptions(["--plot", "here"])).toMatchObject({ plotFolder: "here", profileFolder: null });
  expect(readOptions(["--plot", "--profile"])).toMatchObject({ plotFolder: folder, profileFolder: folder });
  expect(readOptions(["--profile", "--peers", ""])).toMatchObject({
    profileFolder: folder,
    contenders: [{ name: "junban" }],
  });
  expect(HELP).toContain(folder);
});

test("the help names every workload and every contender", () => {
  expect(readOptions(["--help"])).toBeNull();
  for (const { name, what } of [...WORKLOADS, ...CONTENDERS]) {
    expect(HELP).toMatch(new RegExp(`^ {2}${name} +`, "mu"));
    expect(HELP).toContain(what);
  }
});

test.each([
  { args: ["--workload", "warm"], says: "there is no workload warm; one of hot, zipf, uniform" },
  { args: ["--peers", "junban,kafka"], says: "there is no contender kafka; some of junban, junban-single" },
  { args: ["--events", "0"], says: "--events is a whole number from 1 to 10000000" },
  { args: ["--events", "1e3"], says: "--events is a whole number" },
  { args: ["--rounds", "-1"], says: "--rounds" },
  { args: ["--seed", "x"], says: "--seed is a whole number" },
  { args: ["--within", "3601"], says: "--within is a whole number from 1 to 3600" },
  { args: ["--fast"], says: "--fast" },
  { args: ["hot"], says: "hot" },
  { args: ["--profile", "x", "--workload", "memory"], says: "--profile takes one of hot, zipf, uniform" },
])("$args is refused, and what is allowed is said", ({ args, says }) => {
  const answer = readOptions(args);
  expect(answer).toContain(says);
  expect(answer).toContain("npm run bench -- [--workload NAME]");
});
