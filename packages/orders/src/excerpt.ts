const MAX_EXCERPT_CHARACTERS = 200;
const MAX_PREVIEW_LEVELS = 4;
const CUT = "...";

/** A text made safe to store and show: at most 200 characters of printable ASCII, everything else escaped, the end cut off. */
export function excerptOf(text: string): string {
  let excerpt = "";
  // A unit of text becomes at least one character, so no more of them can be needed.
  for (let index = 0; index < text.length; index += 1) {
    const escaped = escapedUnit(text.charCodeAt(index));
    if (excerpt.length + escaped.length > MAX_EXCERPT_CHARACTERS) {
      return cutTo(excerpt, MAX_EXCERPT_CHARACTERS - CUT.length) + CUT;
    }
    excerpt += escaped;
  }
  return excerpt;
}

/** An excerpt of a value of any size, depth or shape, looking only at as much of it as the excerpt can show. Never throws. */
export function previewOf(value: unknown): string {
  try {
    const preview = new Preview();
    preview.write(value, 0);
    return excerptOf(preview.text);
  } catch {
    // A getter of an object that never was JSON threw; there is nothing to show of it.
    return "";
  }
}

function escapedUnit(unit: number): string {
  if (unit === 0x5c) return "\\\\";
  if (unit >= 0x20 && unit <= 0x7e) return String.fromCharCode(unit);
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** Cuts between escapes, never inside one. */
function cutTo(excerpt: string, most: number): string {
  let end = 0;
  while (end < excerpt.length) {
    const width = widthAt(excerpt, end);
    if (end + width > most) break;
    end += width;
  }
  return excerpt.slice(0, end);
}

function widthAt(excerpt: string, index: number): number {
  if (excerpt[index] !== "\\") return 1;
  return excerpt[index + 1] === "\\" ? 2 : 6;
}

class Preview {
  text = "";

  write(value: unknown, level: number): void {
    if (this.#isFull()) return;
    if (typeof value === "string") this.text += JSON.stringify(value.slice(0, MAX_EXCERPT_CHARACTERS));
    else if (typeof value !== "object" || value === null) this.text += String(value);
    else if (level >= MAX_PREVIEW_LEVELS) this.text += CUT;
    else this.#writeMembers(value, level);
  }

  #writeMembers(value: object, level: number): void {
    if (Array.isArray(value)) {
      this.text += "[";
      for (let index = 0; index < value.length && !this.#isFull(); index += 1) {
        if (index > 0) this.text += ",";
        this.write(value[index], level + 1);
      }
      this.text += "]";
      return;
    }
    this.text += "{";
    for (const [index, key] of Object.keys(value).entries()) {
      if (this.#isFull()) break;
      this.text += `${index > 0 ? "," : ""}${JSON.stringify(key.slice(0, MAX_EXCERPT_CHARACTERS))}:`;
      this.write((value as Record<string, unknown>)[key], level + 1);
    }
    this.text += "}";
  }

  #isFull(): boolean {
    return this.text.length > MAX_EXCERPT_CHARACTERS;
  }
}
