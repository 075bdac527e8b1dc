import { once } from "node:events";
import { createInterface } from "node:readline";
import { printable } from "@junban/operations";
import { FoundWrong, UsageError } from "./exit.ts";

/** Where a person is asked. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

export interface Intent {
  /** What will be done, and what cannot be taken back, as whole sentences. */
  readonly says: string;
  /** The option --yes. */
  readonly yes: boolean;
  /** Where nobody can be asked: true refuses without --yes; false goes on, for what is named one by one and can be put right. */
  readonly isGrave: boolean;
  readonly signal: AbortSignal;
}

/**
 * Returns once somebody agreed: with --yes, or by an answer at a terminal.
 * @throws {UsageError} when there is nobody to ask. @throws {FoundWrong} when the answer is not yes; nothing was done.
 */
export async function agree(
  { stdin, stderr }: Terminal,
  { says, yes, isGrave, signal }: Intent,
): Promise<void> {
  if (yes) return;
  if (!stdin.isTTY || !stderr.isTTY) {
    if (!isGrave) return;
    throw new UsageError(`${says}\nNobody can be asked here: add --yes if that is meant.`);
  }
  stderr.write(`${printable(says)}\nGo on? [y/N] `);
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    // An end of input is an answer too.
    const [answer] = await Promise.race([
      once(lines, "line", { signal }) as Promise<[string]>,
      once(lines, "close", { signal }).then(() => [""] as const),
    ]).catch(() => [""] as const);
    if (/^y(?:es)?$/iu.test(answer.trim())) return;
  } finally {
    lines.close();
  }
  throw new FoundWrong("nothing was changed");
}
