import Table from "cli-table3";

/** Where a command prints: results go to `out`, what happens on the way to `progress`. */
export interface Printer {
  out(text: string): void;
  note(text: string): void;
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
  return {
    out: (text) => {
      endProgress();
      stdout.write(`${text}\n`);
    },
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

/** A table without lines, which a terminal can wrap and `cut` can read. Control characters from data are escaped. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  const drawn = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 2 },
    chars: {
      top: "",
      "top-mid": "",
      "top-left": "",
      "top-right": "",
      bottom: "",
      "bottom-mid": "",
      "bottom-left": "",
      "bottom-right": "",
      left: "",
      "left-mid": "",
      mid: "",
      "mid-mid": "",
      right: "",
      "right-mid": "",
      middle: "",
    },
  });
  for (const row of rows) drawn.push(row.map((cell) => printable(cell)));
  return drawn.toString().replaceAll(/ +$/gmu, "");
}

/** Facts as aligned lines. */
export function facts(pairs: readonly (readonly [string, string | number | null])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`).join("\n");
}

/** What moves a terminal's cursor, hides, or turns the rest of a line around. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Text from outside must not move a terminal's cursor. */
export function printable(value: string | number | null): string {
  return value === null ? "–" : String(value).replaceAll(UNPRINTABLE, escaped);
}

/** The same document for whoever parses it, and harmless to whoever only looks at it. */
function harmlessJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(UNPRINTABLE, escaped);
}

/** Unit by unit, as JSON wants it. */
function escaped(character: string): string {
  let text = "";
  for (let index = 0; index < character.length; index += 1) {
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }
  return text;
}

const number = new Intl.NumberFormat("en-US");

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

export function moment(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
