import { printable } from "@junban/operations";
import stringWidth from "string-width";

export type Cell = string | number | Date | null;

/** Names of things are copied, so their columns are never cut; one of prose may be. */
export type Column = string | { readonly cuttable: string };

interface DrawnColumn {
  readonly name: string;
  readonly isCuttable: boolean;
  /** Null where there is no value. */
  readonly cells: readonly (string | null)[];
}

const GAP = 2;
/** What is cut shorter than this tells nothing. */
const LEAST_WIDTH = 12;
const NOTHING = printable(null);

/**
 * A table without lines, which people read and `cut` cuts. With a width, columns without any value are left out, times have no
 * milliseconds, and what may be cut is, with an ellipsis, until each row fits. Where that is not enough, each row is a paragraph that
 * names its values, and nothing is cut. Without a width the table is whole. Control characters from data are escaped.
 */
export function drawTable(
  head: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width }: { readonly width: number | null },
): string {
  const columns = head.map((column, index): DrawnColumn => ({
    name: typeof column === "string" ? column : column.cuttable,
    isCuttable: typeof column !== "string",
    cells: rows.map((row) => shown(row[index] ?? null, width)),
  }));
  if (width === null) return drawLines(columns, Number.POSITIVE_INFINITY);
  const filled = columns.filter(({ cells }) => cells.some((cell) => cell !== null));
  const limit = limitOf(filled, width);
  return limit === null
    ? rows.map((_row, index) => drawParagraph(filled, index, width)).join("\n")
    : drawLines(filled, limit);
}

function shown(cell: Cell, width: number | null): string | null {
  if (cell === null) return null;
  if (!(cell instanceof Date)) return printable(cell);
  return width === null ? cell.toISOString() : cell.toISOString().replace(/\.\d+Z$/u, "Z");
}

function drawLines(columns: readonly DrawnColumn[], limit: number): string {
  const widths = columns.map((column) => widthOf(column, limit));
  const lines = [
    columns.map(({ name }) => name),
    ...(columns[0]?.cells.map((_cell, row) => columns.map(({ cells }) => cells[row] ?? NOTHING)) ?? []),
  ];
  return lines.map((line) => drawLine(line, widths)).join("\n");
}

function drawLine(cells: readonly string[], widths: readonly number[]): string {
  const drawn = cells.map((cell, column) => {
    const width = widths[column] ?? 0;
    const text = cut(cell, width);
    return text + " ".repeat(Math.max(0, width - stringWidth(text)) + GAP);
  });
  return drawn.join("").trimEnd();
}

function widthOf({ name, isCuttable, cells }: DrawnColumn, limit: number): number {
  const natural = Math.max(...[name, ...cells].map((text) => stringWidth(text ?? NOTHING)));
  return isCuttable ? Math.min(natural, limit) : natural;
}

/** The widest that what may be cut can stay so that each row fits; null when even the narrowest is too wide. */
function limitOf(columns: readonly DrawnColumn[], width: number): number | null {
  const taken = (limit: number): number =>
    columns.reduce((sum, column) => sum + widthOf(column, limit), GAP * (columns.length - 1));
  if (taken(Number.POSITIVE_INFINITY) <= width) return width;
  let limit = width;
  while (limit >= LEAST_WIDTH && taken(limit) > width) limit -= 1;
  return limit < LEAST_WIDTH ? null : limit;
}

function drawParagraph(columns: readonly DrawnColumn[], row: number, width: number): string {
  const values = columns.flatMap(({ name, cells }) => {
    const text = cells[row] ?? null;
    return text === null ? [] : [`${name}: ${text}`];
  });
  return broken(values, { gap: " ".repeat(GAP), width, indent: "  " }).join("\n  ");
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  let taken = 0;
  for (const { segment } of graphemes.segment(text)) {
    taken += stringWidth(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Facts as aligned lines; what is wider than the terminal goes on below itself. */
export function drawFacts(
  pairs: readonly (readonly [string, Cell])[],
  { width }: { readonly width: number | null },
): string {
  const indent = " ".repeat(Math.max(...pairs.map(([name]) => name.length)) + GAP);
  return pairs
    .map(([name, value]) => {
      const text = drawText(shown(value, null) ?? NOTHING, { indent, width });
      return name.padEnd(indent.length) + text.slice(indent.length);
    })
    .join("\n");
}

/** Breaks a sentence between words so that it fits, each line behind `indent`. Without a width it stays whole. */
export function drawText(
  text: string,
  { indent, width }: { readonly indent: string; readonly width: number | null },
): string {
  return broken(printable(text).split(" "), { gap: " ", width, indent })
    .map((line) => indent + line)
    .join("\n");
}

/** As many parts a line as fit behind `indent`, which is not written here; one that is wider than a line stands alone. */
function broken(
  parts: readonly string[],
  { gap, indent, width }: { readonly gap: string; readonly indent: string; readonly width: number | null },
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const part of parts) {
    const longer = line === "" ? part : `${line}${gap}${part}`;
    if (line !== "" && width !== null && stringWidth(indent + longer) > width) {
      lines.push(line);
      line = part;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}
