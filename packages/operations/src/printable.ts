/** What moves a terminal's cursor, hides, or turns the rest of a line around, in a terminal or on a page. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Text from outside, on one line, with every character to be seen. */
export function printable(value: string | number | null): string {
  return value === null ? "–" : String(value).replaceAll(UNPRINTABLE, escaped);
}

/** The same document for whoever parses it, and harmless to whoever only looks at it. */
export function harmlessJson(value: unknown): string {
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
