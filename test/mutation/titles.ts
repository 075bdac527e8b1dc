import { titlesIn } from "../architecture/rules/guarantees.ts";
import { parseSource } from "../architecture/rules/source.ts";
import { escaped } from "./test-run.ts";

/** %s and its kin, and words with a dollar sign, stand for the values of a case. */
const PLACEHOLDER = /%[sdifjo]|\$[\w.]+/;

/** The title as its source has it, for a test that ran under `title` with the values of its case filled in. */
export function sourceTitle(path: string, text: string, title: string): string {
  const written = titlesIn(parseSource(path, text)).flatMap((known) => known.text ?? []);
  if (written.includes(title)) return title;
  const [found] = written
    .filter((candidate) => {
      const parts = candidate.split(PLACEHOLDER).map((part) => escaped(part));
      return parts.length > 1 && new RegExp(`^${parts.join("[^]*")}$`).test(title);
    })
    .toSorted((one, other) => other.length - one.length);
  // A template literal has no text of its own; what ran is as good a name.
  return found ?? title;
}
