import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { isUnderstood } from "../cli/understanding.ts";

const read = async (path: string): Promise<string> =>
  readFile(new URL(`../../${path}`, import.meta.url), "utf8");

const page = await read("docs/operations.md");
const rules = await read("deploy/prometheus/alerts.yaml");

/** What stands between a heading and the next one of its level or above. */
function sectionsIn(text: string, level: "##" | "###"): ReadonlyMap<string, string> {
  const parts = text.split(new RegExp(`^${level} `, "mu")).slice(1);
  return new Map(
    parts.map((part) => {
      const [heading = "", ...rest] = part.split("\n");
      return [heading, rest.join("\n").split(/^#{1,3} /mu, 1)[0] ?? ""];
    }),
  );
}

/** The anchor that a heading gets where pages are shown. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(/\s/g, "-");
}

const chapter = (heading: string): string => {
  const start = page.indexOf(`\n## ${heading}\n`);
  const end = page.indexOf("\n## ", start + 1);
  return page.slice(start + 1, end === -1 ? undefined : end);
};

describe("docs/operations.md", () => {
  test("has a section under the anchor of each alert's runbook, in the sequence of the rules, and no other", () => {
    const named = [...rules.matchAll(/runbook: docs\/operations\.md#([a-z-]+)$/gm)].map(
      ([, anchor]) => anchor,
    );
    const anchors = [...sectionsIn(chapter("Alerts"), "###").keys()].map((heading) => anchorOf(heading));
    expect(anchors).toEqual(named);
  });

  test("says of each alert what it means, where to look and what to do", () => {
    for (const [heading, text] of sectionsIn(chapter("Alerts"), "###")) {
      const said = [...text.matchAll(/^\*\*(\w+)\*\*: \S/gm)].map(([, word]) => word);
      expect([heading, said]).toEqual([heading, ["Means", "Look", "Do"]]);
    }
  });

  test("gives each of the five tasks at most ten lines, with a command and its place in the console", () => {
    const tasks = sectionsIn(chapter("Five tasks"), "###");
    expect(tasks.size).toBe(5);
    for (const [heading, text] of tasks) {
      const lines = text.split("\n").filter((line) => line !== "");
      expect(lines.length, heading).toBeLessThanOrEqual(10);
      expect(text, heading).toMatch(/`junban /);
      expect(text, heading).toMatch(/^\d\. Console: /m);
    }
  });

  test("names pages, sections, tabs, figures and buttons of the console as the console does", async () => {
    const folder = new URL("../../apps/console/src/pages/", import.meta.url);
    const files = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
    const pages = (await Promise.all(files.map(async (name) => read(`apps/console/src/pages/${name}`)))).join(
      "\n",
    );
    const lines = [...chapter("Five tasks").matchAll(/^\d\. Console: (.+)$/gm)].map(([, line]) => line ?? "");
    const named = lines.flatMap((line) => [...line.matchAll(/\*([^*]+)\*/g)].map(([, name]) => name ?? ""));
    expect(named.length).toBeGreaterThan(10);
    // Between tags, or as a word that is put there.
    const missing = named.filter((name) => !pages.includes(`>${name}<`) && !pages.includes(`"${name}"`));
    expect(missing).toEqual([]);
  });

  test("shows no command that the program does not know", async () => {
    const shown = [...page.matchAll(/`(junban [^`]+)`|^ *(junban .+)$/gm)].map(
      ([, inline, line]) => inline ?? line ?? "",
    );
    expect(shown.length).toBeGreaterThan(50);
    for (const command of new Set(shown)) {
      expect([command, await isUnderstood(command)]).toEqual([command, true]);
    }
  });
});
