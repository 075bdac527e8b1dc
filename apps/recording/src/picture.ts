import type { TerminalSize } from "./record.ts";
import type { Frame, Row, Run } from "./replay.ts";

export interface PictureOptions extends TerminalSize {
  /** Stands in the window's bar. */
  readonly title: string;
  /** For whoever cannot see the picture. */
  readonly description: string;
  /** How long the last frame stays before it begins again. */
  readonly holdMs: number;
}

const CELL = 8.4;
const LINE = 18;
const FONT = 14;
const MARGIN = 16;
const BAR = 34;

/** Light enough on the window's own dark ground, whatever ground the page has. */
const COLORS: Readonly<Record<number, string>> = {
  1: "#ff8f88",
  2: "#7ee2a0",
  3: "#f2cc6b",
  4: "#8ab8ff",
  5: "#d7a6f5",
  6: "#6cd6e4",
};
const GROUND = "#161b22";
const TEXT = "#e6edf3";

/**
 * Draws frames as one SVG that moves by itself. They hang below each other like a film, which a keyframe for each pulls on; a row
 * that several of them show is drawn once. Whoever plays no animation, or asked for none, sees the last.
 */
export function pictureOf(frames: readonly Frame[], options: PictureOptions): string {
  const { columns, rows, title, description, holdMs } = options;
  const width = Math.ceil(columns * CELL + 2 * MARGIN);
  const screen = rows * LINE;
  const height = BAR + screen + MARGIN;
  const lastMs = frames.at(-1)?.atMs ?? 0;
  const wholeMs = lastMs + holdMs;
  const stops = frames.map(
    ({ atMs }, index) =>
      `${((100 * atMs) / wholeMs).toFixed(2)}%{transform:translateY(${-index * screen}px)}`,
  );
  const end = -(frames.length - 1) * screen;
  const { drawn, film } = filmOf(frames, screen);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(description)}</title>`,
    "<style>",
    `text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${TEXT};white-space:pre}`,
    ...Object.entries(COLORS).map(([color, fill]) => `.c${color}{fill:${fill}}`),
    ".b{font-weight:bold}.d{opacity:.62}",
    `#film{transform:translateY(${end}px);animation:film ${(wholeMs / 1000).toFixed(2)}s steps(1,end) infinite}`,
    `@keyframes film{${stops.join("")}100%{transform:translateY(${end}px)}}`,
    "@media (prefers-reduced-motion:reduce){#film{animation:none}}",
    "</style>",
    `<rect width="${width}" height="${height}" rx="10" fill="${GROUND}" stroke="#3d444d"/>`,
    ...["#ff5f57", "#febc2e", "#28c840"].map(
      (fill, index) => `<circle cx="${MARGIN + 6 + index * 20}" cy="18" r="6" fill="${fill}"/>`,
    ),
    `<text x="${width / 2}" y="23" text-anchor="middle" class="d">${escaped(title)}</text>`,
    `<defs>${drawn.join("\n")}</defs>`,
    `<svg x="${MARGIN}" y="${BAR}" width="${columns * CELL}" height="${screen}" viewBox="0 0 ${columns * CELL} ${screen}">`,
    `<g id="film" transform="translate(0 ${end})">`,
    ...film,
    "</g></svg></svg>\n",
  ].join("\n");
}

function filmOf(frames: readonly Frame[], screen: number): { drawn: string[]; film: string[] } {
  const names = new Map<string, string>();
  const film = frames.map(({ rows }, index) => {
    const shown = rows.flatMap((row, line) => {
      if (row.length === 0) return [];
      const text = rowText(row);
      const name = names.get(text) ?? `r${names.size.toString(36)}`;
      names.set(text, name);
      return [`<use href="#${name}" y="${line * LINE}"/>`];
    });
    return `<g transform="translate(0 ${index * screen})">${shown.join("")}</g>`;
  });
  return { drawn: [...names].map(([text, name]) => `<g id="${name}">${text}</g>`), film };
}

function rowText(row: Row): string {
  return row.map(runText).join("");
}

/** Each run says how wide it is, so that columns stand below each other in whichever font the page has. */
function runText({ column, text, color, bold, dim }: Run): string {
  const names = [color === null || !(color in COLORS) ? "" : `c${color}`, bold ? "b" : "", dim ? "d" : ""];
  const styles = names.filter((name) => name !== "").join(" ");
  const width = rounded(text.length * CELL);
  const marks = `x="${rounded(column * CELL)}" y="13" textLength="${width}"${styles === "" ? "" : ` class="${styles}"`}`;
  return `<text ${marks} lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`;
}

function rounded(length: number): number {
  return Math.round(length * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
