/** A heading of a page and what stands below it, up to the next one. */
export interface Section {
  /** How many `#` the heading has. */
  readonly level: number;
  readonly title: string;
  /** What stands below, without its code blocks. */
  readonly prose: string;
  readonly blocks: readonly Block[];
}

/** A fenced code block. */
export interface Block {
  /** Empty where the fence names none. */
  readonly language: string;
  readonly lines: readonly string[];
}

/** The sections of a page in their sequence; a `#` in a code block opens none. */
export function sectionsOf(markdown: string): Section[] {
  const blocks: Block[] = [];
  const outside = markdown.replaceAll(
    /^```(\w*)\n([\s\S]*?)\n```$/gm,
    (_, language: string, code: string) => {
      blocks.push({ language, lines: code.split("\n") });
      return BLOCK;
    },
  );
  const [, ...parts] = outside.split(/^(#+) (.+)$/m);
  return Array.from({ length: parts.length / 3 }, (_, index) => {
    const [hashes = "", title = "", below = ""] = parts.slice(index * 3, index * 3 + 3);
    const count = below.split(BLOCK).length - 1;
    return {
      level: hashes.length,
      title,
      prose: below.replaceAll(BLOCK, ""),
      blocks: blocks.splice(0, count),
    };
  });
}

/** Stands in the text where a code block was; no page holds this character. */
const BLOCK = "\u0000";

/** What the address of a heading ends in, as GitHub makes it: `## The lane` is reached by `#the-lane`. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
}
