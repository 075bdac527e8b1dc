import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { CONFIGURATIONS } from "./configurations.ts";
import { MUTATIONS, PROGRESS, SPARES } from "./mutations.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MODEL = `${ROOT}docs/spec/`;

function read(path: string): string {
  return readFileSync(`${ROOT}${path}`, "utf8");
}

function filesIn(folder: string, extension: string): string[] {
  return readdirSync(folder).filter((file) => file.endsWith(extension));
}

function namesIn(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ""))].toSorted();
}

const model = filesIn(MODEL, ".pml")
  .map((file) => read(`docs/spec/${file}`))
  .join("\n");
const page = read("docs/spec/README.md");

describe("the model of the lane", () => {
  test("has one action for each script, named as it is", () => {
    const scripts = filesIn(`${ROOT}packages/handoff-lock/lua/`, ".lua").map((file) =>
      file.replace(".lua", "").replaceAll("-", "_"),
    );
    const actions = namesIn(read("docs/spec/scripts.pml"), /^inline (\w+)\(/gm);
    expect(actions).toEqual(scripts.toSorted());
    // And somebody takes it.
    const others = model.replaceAll(/^inline \w+\(.*$/gm, "");
    expect(actions.filter((action) => !new RegExp(`\\b${action}\\(`).test(others))).toEqual([]);
  });

  test("can be checked without each of its guards, and the runner takes out all of them", () => {
    const guards = namesIn(model, /\bWITHOUT_([A-Z_]+)/g);
    expect([...MUTATIONS, ...SPARES].map(({ guard }) => guard).toSorted()).toEqual(guards);
  });

  test("makes no promise that survives every guard", () => {
    // `line_fits_model` only says that the model is large enough for itself.
    const promises = namesIn(model, /\bpromise\((\w+),/g).filter((name) => name !== "line_fits_model");
    expect([...new Set(MUTATIONS.map(({ breaks }) => breaks))].toSorted()).toEqual(
      [...promises, PROGRESS].filter((name) => name !== "name").toSorted(),
    );
  });
});

describe("docs/spec/README.md", () => {
  test("tells of each configuration", () => {
    const missing = CONFIGURATIONS.filter(({ name, says }) => !page.includes(`| ${name} | ${says} |`));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test("tells of each guard which promise breaks without it", () => {
    const missing = MUTATIONS.filter(
      ({ guard, says, within, breaks }) =>
        !page.includes(`| \`${guard}\` | ${says} | ${within} | \`${breaks}\` |`),
    );
    expect(missing.map(({ guard }) => guard)).toEqual([]);
  });

  test("tells of each guard that can be spared why nothing breaks", () => {
    const missing = SPARES.filter(
      ({ guard, says, why }) => !page.includes(`| \`${guard}\` | ${says} | ${why} |`),
    );
    expect(missing.map(({ guard }) => guard)).toEqual([]);
  });
});
