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
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = strings[0] ?? "";
  for (const [index, value] of values.entries()) text += textOf(value) + (strings[index + 1] ?? "");
  return new Html(text);
}

function textOf(value: Content): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map((each) => textOf(each)).join("");
  return htmlEscape(String(value));
}
