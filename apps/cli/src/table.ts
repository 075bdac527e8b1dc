import { printable } from "@junban/operations";
import stringWidth from "string-width";

export type Cell = string | number | null;

const GAP = 2;
/** A column that is cut shorter than this tells nothing. */
const LEAST_WIDTH = 8;

/**
 * A table without lines, which people read and `cut` cuts. With a width the widest columns are cut, with an ellipsis, until each
 * row fits, but none below eight characters; without one nothing is cut. Control characters from data are escaped.
 */
export function drawTable(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  { width }: { readonly width: number | null },
): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => printable(cell)));
  const natural = head.map((_name, column) =>
    Math.max(...lines.map((line) => stringWidth(line[column] ?? ""))),
  );
  const widths = width === null ? natural : fitting(natural, width - GAP * (head.length - 1));
  return lines.map((line) => drawLine(line, widths)).join("\n");
}

function drawLine(cells: readonly string[], widths: readonly number[]): string {
  const drawn = cells.map((cell, column) => {
    const width = widths[column] ?? 0;
    const shown = cut(cell, width);
    return shown + " ".repeat(Math.max(0, width - stringWidth(shown)) + GAP);
  });
  return drawn.join("").trimEnd();
}

/** The same limit for all columns, so that the widest give first. */
function fitting(natural: readonly number[], available: number): readonly number[] {
  let limit = Math.max(...natural);
  const limited = (): readonly number[] => natural.map((width) => Math.min(width, limit));
  while (limit > LEAST_WIDTH && sum(limited()) > available) limit -= 1;
  return limited();
}

function sum(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 0);
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let shown = "";
  let taken = 0;
  for (const { segment } of graphemes.segment(text)) {
    taken += stringWidth(segment);
    if (taken > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** Facts as aligned lines; what is wider than the terminal goes on below itself. */
export function drawFacts(
  pairs: readonly (readonly [string, Cell])[],
  { width }: { readonly width: number | null },
): string {
  const indent = " ".repeat(Math.max(...pairs.map(([name]) => name.length)) + GAP);
  return pairs
    .map(([name, value]) => {
      const text = drawText(printable(value), { indent, width });
      return name.padEnd(indent.length) + text.slice(indent.length);
    })
    .join("\n");
}

/** Breaks a sentence between words so that it fits, each line behind `indent`. Without a width it stays whole. */
export function drawText(
  text: string,
  { indent, width }: { readonly indent: string; readonly width: number | null },
): string {
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text).split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && width !== null && stringWidth(indent + longer) > width) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line].map((each) => indent + each).join("\n");
}
