import { cellsOf } from "./guarantees.ts";
import { targetsIn } from "./links.ts";
import type { Page } from "./links.ts";
import { anchorOf, sectionsOf } from "./sections.ts";
import type { Block, Section } from "./sections.ts";

/** One page in two languages. */
export interface Editions {
  readonly original: Page;
  readonly translation: Page;
}

/**
 * Where a translation has fallen behind its original: in headings, code, links, tables, lists, names in backticks, figures. What
 * the sentences say is not compared. Code comments and the labels of a picture are translated; the part that the bench writes
 * is not, and is to be linked instead.
 */
export function editionGaps({ original, translation }: Editions): string[] {
  const first = sectionsOf(withoutGenerated(original));
  const second = sectionsOf(translation.text);
  const outlines = [first, second].map((sections) => sections.map(({ level }) => level).join(" "));
  if (outlines[0] !== outlines[1]) {
    return [
      `${original.path} has headings of the levels ${outlines[0]}, ${translation.path} has ${outlines[1]}: ${KEEP}`,
    ];
  }
  return first.flatMap((section, index) => {
    const counterpart = second[index] ?? section;
    const here = `${original.path} “${section.title}”`;
    const there = `${translation.path} “${counterpart.title}”`;
    const from = traitsOf(section, { sections: first, sibling: translation.path });
    const to = traitsOf(counterpart, { sections: second, sibling: original.path });
    return [
      ...codeGaps(section.blocks, counterpart.blocks).map(
        ([ours, theirs]) => `${here} has ${ours}, ${there} has ${theirs}: ${KEEP}`,
      ),
      ...missing(from, to).map((trait) => `${here} has ${trait}, ${there} has not: ${KEEP}`),
      // A language may write as a figure what another writes as a word.
      ...missing(to, from)
        .filter((trait) => !trait.startsWith(FIGURE))
        .map((trait) => `${there} has ${trait}, ${here} has not: ${KEEP}`),
    ];
  });
}

const KEEP = "carry the change over to the other edition";
const FIGURE = "the figure ";
const GENERATED = /<!-- bench:begin -->[\s\S]*<!-- bench:end -->/;

/** In the place of what the bench writes, what a translation says instead: its headings, its links, and one to itself. */
function withoutGenerated({ path, text }: Page): string {
  return text.replace(GENERATED, (block) =>
    sectionsOf(block)
      .map(({ level, title, prose }) => {
        const targets = [`${path}#${anchorOf(title)}`, ...targetsIn(prose)];
        return `${"#".repeat(level)} ${title}\n\n${targets.map((target) => `[](${target})`).join(" ")}\n`;
      })
      .join("\n"),
  );
}

interface Surroundings {
  readonly sections: readonly Section[];
  /** The path of the other edition. */
  readonly sibling: string;
}

/** What both editions of a section have to have, each in words. */
function traitsOf({ prose, blocks }: Section, { sections, sibling }: Surroundings): string[] {
  const text = prose.replaceAll(/\s+/g, " ");
  const links = targetsIn(prose).map((target) => destinationOf(target, { sections, sibling }));
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([span]) => span);
  const figures = text.replaceAll(/`[^`]+`|\]\([^)]+\)/g, "").match(/\d+(?:[.,]\d+)*/g) ?? [];
  return [
    `${blocks.length} code blocks`,
    ...tablesIn(prose).map((size, index) => `as table ${index + 1} one of ${size}`),
    `${prose.match(/^- /gm)?.length ?? 0} items in lists`,
    ...counted(links).map((link) => `a link to ${link}`),
    ...[...new Set(spans)].map((span) => `the name ${span}`),
    ...[...new Set(figures)].map((figure) => `${FIGURE}${figure}`),
  ];
}

/** Where a link leads, alike in both editions: their headings differ, so within a page it is the number of the heading. */
function destinationOf(target: string, { sections, sibling }: Surroundings): string {
  if (target === sibling) return "the other edition";
  if (!target.startsWith("#")) return target;
  const index = sections.findIndex(({ title }) => anchorOf(title) === target.slice(1));
  return index === -1 ? `${target}, which is no heading` : `heading ${index + 1}`;
}

/** The second of two equal texts says so, so that a set can hold both. */
function counted(texts: readonly string[]): string[] {
  return texts.map((text, index) => {
    const before = texts.slice(0, index).filter((other) => other === text).length;
    return before === 0 ? text : `${text} (${before + 1})`;
  });
}

/** For each code block that differs, the first line that does, as either edition has it. */
function codeGaps(ours: readonly Block[], theirs: readonly Block[]): [string, string][] {
  return ours.flatMap((block, index) => {
    const counterpart = theirs[index];
    if (counterpart === undefined) return [];
    const [from, to] = [untranslated(block), untranslated(counterpart)];
    const line = from.findIndex((text, at) => text !== to[at]);
    if (line === -1 && from.length === to.length) return [];
    const at = line === -1 ? from.length : line;
    return [[`in line ${at} of code block ${index + 1} “${from[at] ?? ""}”`, `“${to[at] ?? ""}”`]];
  });
}

/** A code block, its fence first, without what is translated in it: comments, and in a picture everything that is only shown. */
function untranslated({ language, lines }: Block): string[] {
  const all = [`\`\`\`${language}`, ...lines];
  if (language === "text") return all;
  if (language !== "mermaid") return all.map((line) => line.replace(/(^|\s)\s*(#|\/\/) .*$/, "$1$2"));
  return all.map((line) =>
    line
      .replaceAll(/\s?\[[^\]]*\]/g, "")
      .replaceAll(/"[^"]*"/g, '""')
      .replaceAll(/ (--|-\.) .*? (-->|\.->)/g, " $1 $2"),
  );
}

/** The size of each table, its line of dashes included. */
function tablesIn(prose: string): string[] {
  return [...prose.matchAll(/(?:^\|.*\n?)+/gm)].map(([table]) => {
    const widths = table
      .trimEnd()
      .split("\n")
      .map((row) => cellsOf(row).length);
    return `${widths.length} rows with ${[...new Set(widths)].join(" and ")} cells`;
  });
}

function missing(from: readonly string[], to: readonly string[]): string[] {
  const present = new Set(to);
  return from.filter((trait) => !present.has(trait));
}
