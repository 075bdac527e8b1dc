import { harmlessJson } from "@junban/operations";
import { drawFacts, drawTable, drawText, type Cell, type Column } from "./table.ts";

/** Where a command prints: results go to `out`, what happens on the way to `progress`. */
export interface Printer {
  out(text: string): void;
  note(text: string): void;
  /** A table that fits the terminal, and is whole where there is none. */
  table(head: readonly Column[], rows: readonly (readonly Cell[])[]): void;
  /** Facts as aligned lines, which fit the terminal. */
  facts(pairs: readonly (readonly [string, Cell])[]): void;
  /** A sentence behind `indent`, in as many lines as the terminal needs. */
  text(text: string, options: { readonly indent: string }): void;
  /** One document for scripts. */
  json(value: unknown): void;
  /** Rewrites one line on a terminal; elsewhere prints a line now and then. */
  progress(text: string): void;
  /** Ends a rewritten line, so that what follows starts on its own. */
  endProgress(): void;
}

/** How often a progress line may be printed where it cannot be rewritten, in milliseconds. */
const PLAIN_PROGRESS_EVERY_MS = 2_000;
const LIVE_PROGRESS_EVERY_MS = 100;

export function createPrinter({
  stdout,
  stderr,
}: {
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}): Printer {
  let shownAtMs = Number.NEGATIVE_INFINITY;
  let open = false;
  const endProgress = (): void => {
    if (open) stderr.write("\n");
    open = false;
  };
  const out = (text: string): void => {
    endProgress();
    stdout.write(`${text}\n`);
  };
  const width = stdout.isTTY ? stdout.columns || 80 : null;
  return {
    out,
    table: (head, rows) => out(drawTable(head, rows, { width })),
    facts: (pairs) => out(drawFacts(pairs, { width })),
    text: (text, { indent }) => out(drawText(text, { indent, width })),
    note: (text) => {
      endProgress();
      stderr.write(`${text}\n`);
    },
    json: (value) => {
      endProgress();
      stdout.write(`${harmlessJson(value)}\n`);
    },
    progress: (text) => {
      const nowMs = performance.now();
      if (nowMs - shownAtMs < (stderr.isTTY ? LIVE_PROGRESS_EVERY_MS : PLAIN_PROGRESS_EVERY_MS)) return;
      shownAtMs = nowMs;
      if (stderr.isTTY) {
        // A line that wraps could not be rewritten.
        stderr.write(`\r\x1b[2K${text.slice(0, Math.max(10, (stderr.columns || 80) - 1))}`);
        open = true;
      } else {
        stderr.write(`${text}\n`);
      }
    },
    endProgress,
  };
}

const number = new Intl.NumberFormat("en-US");

export { counted } from "@junban/operations";

export function count(value: number): string {
  return number.format(value);
}

/** Minor units with the currency's own number of decimals: 500 JPY is `500 JPY`, 500 EUR is `5.00 EUR`. */
export function money(minor: number, currency: string | null): string {
  if (currency === null) return number.format(minor);
  const digits =
    new Intl.NumberFormat("en-US", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ??
    0;
  const amount = new Intl.NumberFormat("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${amount.format(minor / 10 ** digits)} ${currency}`;
}
