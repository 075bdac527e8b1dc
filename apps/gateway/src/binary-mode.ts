import { malformed } from "./refusal.ts";

/** Attribute names as CloudEvents has them. With it `__proto__` is no name either. */
const ATTRIBUTE = /^[a-z0-9]{1,64}$/;
const PRINTABLE = /^[ -~]*$/;
const WHOLE_NUMBER = /^\d{1,15}$/;

/**
 * The attributes of an event in binary mode: each `ce-` header is one, under the rest of its name. A header that comes twice
 * is refused, since which of the two counts differs from one proxy to the next.
 *
 * @param rawHeaders names and values in turn, as they came
 */
export function attributesOf(rawHeaders: readonly string[]): Record<string, unknown> {
  const attributes: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const header = rawHeaders[index]?.toLowerCase() ?? "";
    if (!header.startsWith("ce-")) continue;
    const name = header.slice("ce-".length);
    if (!ATTRIBUTE.test(name) || name === "data") {
      throw malformed("ce-?", "ce- and the name of an attribute in letters and digits, not data");
    }
    if (name in attributes) throw malformed(header, "one such header");
    attributes[name] = valueOf(name, decoded(header, rawHeaders[index + 1] ?? ""));
  }
  return attributes;
}

/** Headers are texts; the one attribute that is a number here is read as one, and left to its rule where it is none. */
function valueOf(name: string, text: string): unknown {
  return name === "schemaversion" && WHOLE_NUMBER.test(text) ? Number(text) : text;
}

/**
 * CloudEvents writes what is not printable ASCII in percent-encoded UTF-8, and older senders put the whole in quotes. A bare byte
 * beyond ASCII is refused: read in the wrong encoding, the same id would be another one.
 */
function decoded(header: string, value: string): string {
  if (!PRINTABLE.test(value)) throw malformed(header, "printable ASCII, and the rest percent-encoded");
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  const text = quoted === undefined ? value : quoted.replaceAll(/\\(.)/g, "$1");
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed(header, "percent-encoded UTF-8");
  }
}
