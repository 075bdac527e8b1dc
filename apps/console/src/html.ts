import { printable } from "@junban/operations";
import { htmlEscape } from "escape-goat";

/** Text that is HTML already. Only {@link html} makes it, so whatever else comes into a page is escaped. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type Content = Html | string | number | null | undefined | false | readonly Content[];

/**
 * A piece of a page. Values are text and become text, in an attribute as between tags, unless they are pieces themselves; lists are
 * joined, and what is missing leaves nothing. Attributes have to be written in quotes.
 *
 * Between tags no text hides a character or turns the words around it: whoever looks sees what is stored. An attribute has its value to
 * the letter, since forms send it back.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = strings[0] ?? "";
  for (const [index, value] of values.entries()) {
    text += textOf(value, writerBehind(strings[index] ?? "")) + (strings[index + 1] ?? "");
  }
  return new Html(text);
}

type Writer = (text: string) => string;

function writerBehind(markup: string): Writer {
  if (markup.endsWith('="')) return htmlEscape;
  // No element may stand in a title.
  return markup.endsWith("<title>") ? visible : isolated;
}

function textOf(value: Content, write: Writer): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map((each) => textOf(each, write)).join("");
  return write(String(value));
}

/** The blocks whose letters run from right to left, and take what stands beside them along. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `<bdi>${visible(text)}</bdi>` : visible(text);
}

function visible(text: string): string {
  return htmlEscape(text.split("\n").map(printable).join("\n"));
}
