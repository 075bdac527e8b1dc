import { describe, expect, test } from "vitest";
import { editionGaps } from "./rules/editions.ts";
import { anchorOf } from "./rules/sections.ts";
import { readTree } from "./rules/tree.ts";

const tree = readTree();
const page = (path: string): { path: string; text: string } => ({ path, text: tree.read(path) });

describe("README.ja.md", () => {
  const english = page("README.md");
  const japanese = page("README.ja.md");

  test("keeps step with README.md", () => {
    expect(editionGaps({ original: english, translation: japanese })).toEqual([]);
  });

  test("is linked from the top of README.md and links back", () => {
    const top = (text: string): string => text.split("\n").slice(0, 4).join("\n");
    expect(top(english.text)).toContain("(README.ja.md)");
    expect(top(japanese.text)).toContain("(README.md)");
  });

  test("does not repeat the figures of the bench, nor the marks between which they are written", () => {
    const measured = [...english.text.matchAll(/[\d.,]+ ×/g)].map(([figure]) => figure);
    expect(measured.length).toBeGreaterThan(0);
    expect([...measured, "bench:begin"].filter((text) => japanese.text.includes(text))).toEqual([]);
  });
});

describe("two editions of a page", () => {
  const ENGLISH = `# Way

[Weg](b.md) or [below](#second-part)

\`\`\`
run 2   # twice is harmless
\`\`\`

\`\`\`mermaid
flowchart LR
  pay[payments] -- publish --> queue[("queue<br/>one")]
  queue -. "hand on" .-> pay
\`\`\`

## Second part

- wait 30 seconds for \`name\`

| a | b |
| --- | --- |
| 1 | [c](c.md#part) |

<!-- bench:begin -->

## Speed

| fast | 9.5 × |
| --- | --- |

More: [figures](figures.md).

<!-- bench:end -->
`;
  const GERMAN = `# Weg

[Way](a.md) oder [unten](#zweiter-teil)

\`\`\`
run 2   # zweimal schadet nicht
\`\`\`

\`\`\`mermaid
flowchart LR
  pay["Zahlungen"] -- "melden" --> queue[("Schlange<br/>eine")]
  queue -. "weitergeben" .-> pay
\`\`\`

## Zweiter Teil

- 30 Sekunden auf \`name\` warten

| a | b |
| --- | --- |
| 1 | [c](c.md#part) |

## Tempo

Gemessen an 1 Tag: [Zahlen](figures.md), [Auszug](a.md#speed).
`;
  const gaps = (english: string, german: string): string[] =>
    editionGaps({ original: { path: "a.md", text: english }, translation: { path: "b.md", text: german } });

  test("are in step when only sentences, comments and labels differ", () => {
    expect(gaps(ENGLISH, GERMAN)).toEqual([]);
  });

  test.each([
    ["a heading more", "## Second part", "## Between\n\n## Second part", "headings of the levels 1 2 2 2"],
    ["a heading of another level", "## Second part", "### Second part", "headings of the levels 1 3 2"],
    ["other code", "run 2 ", "run 3 ", "in line 1 of code block 1 “run 3 #”"],
    ["a line of code more", "harmless\n", "harmless\nstop\n", "in line 2 of code block 1 “stop”"],
    ["a code block more", "## Second", "```\nrun\n```\n\n## Second", "3 code blocks"],
    ["code of another language", "```\nrun", "```sh\nrun", "in line 0 of code block 1 “```sh”"],
    ["a comment less", "   # twice is harmless", "", "in line 1 of code block 1 “run 2”"],
    ["another arrow in the picture", '-. "hand on" .->', '-- "hand on" -->', "in line 3 of code block 2"],
    ["another link", "c.md#part", "c.md#whole", "a link to c.md#whole"],
    ["a link twice", "[c](c.md#part)", "[c](c.md#part) [c](c.md#part)", "a link to c.md#part (2)"],
    ["a link to another of its headings", "(#second-part)", "(#way)", "a link to heading 1"],
    ["a row more", "| 1 | [c]", "| 0 | 0 |\n| 1 | [c]", "as table 1 one of 4 rows with 2 cells"],
    ["a list item more", "- wait", "- first\n- wait", "2 items in lists"],
    ["another name", "`name`", "`title`", "the name `title`"],
    ["another figure", "30 seconds", "60 seconds", "the figure 60"],
    ["another page behind the figures of the bench", "(figures.md)", "(rates.md)", "a link to rates.md"],
  ])("are out of step when one has %s", (_, from, to, says) => {
    const changed = ENGLISH.replace(from, to);
    expect(changed).not.toBe(ENGLISH);
    const told = gaps(changed, GERMAN);
    expect(told[0]).toContain(says);
    expect(told[0]).toContain("a.md");
    expect(told[0]).toContain("b.md");
    expect(told[0]).toContain("carry the change over to the other edition");
  });

  test("are out of step when the translation says more, or links to a heading that it does not have", () => {
    expect(gaps(ENGLISH, `${GERMAN}\nAuch \`neu\`.\n`)).toEqual([
      "b.md “Tempo” has the name `neu`, a.md “Speed” has not: carry the change over to the other edition",
    ]);
    expect(gaps(ENGLISH, GERMAN.replace("nicht\n", "nicht\nhalt\n"))).toEqual([
      "a.md “Way” has in line 2 of code block 1 “”, b.md “Weg” has “halt”: carry the change over to the other edition",
    ]);
    expect(gaps(ENGLISH, GERMAN.replace("(#zweiter-teil)", "(#second-part)"))[1]).toContain(
      "b.md “Weg” has a link to #second-part, which is no heading",
    );
  });
});

test("the anchor of a heading is the one that GitHub makes", () => {
  expect(anchorOf("Doors in, news out")).toBe("doors-in-news-out");
  expect(anchorOf("The `junban` command")).toBe("the-junban-command");
  expect(anchorOf("保証すること、しないこと")).toBe("保証することしないこと");
});
