import xterm from "@xterm/headless";
import type { IBufferCell } from "@xterm/headless";
import type { Piece, TerminalSize } from "./record.ts";

/** Cells side by side that look alike, with one character each. */
export interface Run {
  readonly column: number;
  readonly text: string;
  /** Of the terminal's sixteen; null is its own. */
  readonly color: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
}

export type Row = readonly Run[];

/** What the terminal showed from a moment on. */
export interface Frame {
  readonly atMs: number;
  readonly rows: readonly Row[];
}

/** Plays what was written into a terminal and looks at it every `everyMs`; looks that show nothing new are left out. */
export async function replay(
  pieces: readonly Piece[],
  { everyMs, columns, rows }: TerminalSize & { readonly everyMs: number },
): Promise<Frame[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const frames: Frame[] = [];
  const look = (atMs: number): void => {
    const frame = { atMs, rows: screenOf(terminal) };
    if (JSON.stringify(frames.at(-1)?.rows) !== JSON.stringify(frame.rows)) frames.push(frame);
  };
  let lookAtMs = 0;
  for (const { atMs, bytes } of pieces) {
    if (atMs >= lookAtMs) {
      look(lookAtMs);
      lookAtMs = Math.ceil((atMs + 1) / everyMs) * everyMs;
    }
    await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  }
  look(lookAtMs);
  terminal.dispose();
  return frames;
}

function screenOf({ buffer, rows, cols }: xterm.Terminal): Row[] {
  const { active } = buffer;
  return Array.from({ length: rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    const cells = Array.from({ length: cols }, (_cell, column) => line?.getCell(column));
    return runsOf(cells);
  });
}

function runsOf(cells: readonly (IBufferCell | undefined)[]): Row {
  const runs: Run[] = [];
  for (const [column, cell] of cells.entries()) {
    // A cell that nothing was written to holds no text at all.
    const text = (cell?.getChars() ?? "").padEnd(1);
    const run = { column, text, ...styleOf(cell) };
    const last = runs.at(-1);
    if (last !== undefined && looksLike(last, run)) {
      runs.splice(-1, 1, { ...last, text: last.text + run.text });
    } else {
      runs.push(run);
    }
  }
  return runs.flatMap(trimmed);
}

function styleOf(cell: IBufferCell | undefined): Omit<Run, "column" | "text"> {
  const color = cell?.isFgPalette() === true ? cell.getFgColor() : null;
  return {
    color,
    bold: cell?.isBold() !== 0 && cell !== undefined,
    dim: cell?.isDim() !== 0 && cell !== undefined,
  };
}

function looksLike(left: Run, right: Run): boolean {
  return left.color === right.color && left.bold === right.bold && left.dim === right.dim;
}

/** Blanks at either end show nothing. */
function trimmed(run: Run): Run[] {
  const text = run.text.trim();
  if (text === "") return [];
  return [{ ...run, column: run.column + run.text.length - run.text.trimStart().length, text }];
}
