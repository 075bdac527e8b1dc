/** A table; what is in a cell cannot end it. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  {
    left = 1,
  }: {
    /** Columns of words, which stand left; those behind are figures, and stand right. */ readonly left?: number;
  } = {},
): readonly string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text) => text.replaceAll("|", String.raw`\|`).replaceAll(/\s*\n\s*/g, " ")).join(" | ")} |`;
  return [
    line(heads),
    `|${heads.map((_, index) => (index < left ? " --- " : " ---: ")).join("|")}|`,
    ...rows.map(line),
    "",
  ];
}

export function heading(text: string, depth = 2): readonly string[] {
  return [`${"#".repeat(depth)} ${text}`, ""];
}

/** One paragraph of these sentences; nothing when there are none. */
export function paragraph(...sentences: readonly (string | null)[]): readonly string[] {
  const said = sentences.filter((sentence) => sentence !== null && sentence !== "");
  return said.length === 0 ? [] : [said.join(" "), ""];
}

export function bullets(items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [...items.map((item) => `- ${item}`), ""];
}

/** a, b and c */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}
