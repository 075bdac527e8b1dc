import { styleText } from "node:util";

/** What a piece of text is, rather than which colour it has. */
export type Tone = "plain" | "quiet" | "strong" | "bar" | "good" | "warning" | "bad";

/** A piece of a line. Its text holds only characters that are one cell wide. */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

export type Line = readonly Span[];

export type Painter = (line: Line) => string;

const STYLES = {
  plain: null,
  quiet: "dim",
  strong: "bold",
  bar: "cyan",
  good: "green",
  warning: "yellow",
  bad: "red",
} as const satisfies Record<Tone, Parameters<typeof styleText>[0] | null>;

/** Colours where the stream shows them; NO_COLOR, TERM=dumb and pipes get bare text. */
export function painterFor(stream: NodeJS.WriteStream): Painter {
  const isColourful = stream.isTTY && stream.hasColors();
  return (line) => line.map((piece) => (isColourful ? painted(piece) : piece.text)).join("");
}

export function span(text: string, tone: Tone = "plain"): Span {
  return { text, tone };
}

/** Cuts a line that is too long; a terminal would break it, and a rewritten frame would fall apart. */
export function fitted(line: Line, columns: number): Line {
  let left = columns;
  return line.flatMap(({ text, tone }) => {
    const kept = text.slice(0, Math.max(0, left));
    left -= text.length;
    return kept === "" ? [] : [{ text: kept, tone }];
  });
}

/** Breaks text between words, so that no piece is longer than `cells` unless a single word is. */
export function wrapped(text: string, cells: number): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const word of text.split(" ")) {
    const longer = piece === "" ? word : `${piece} ${word}`;
    if (longer.length > cells && piece !== "") {
      pieces.push(piece);
      piece = word;
    } else {
      piece = longer;
    }
  }
  return [...pieces, piece];
}

function painted({ text, tone }: Span): string {
  const style = STYLES[tone];
  // Whether colours are wanted was asked of the right stream already.
  return style === null ? text : styleText(style, text, { validateStream: false });
}
