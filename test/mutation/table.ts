import { sourceTitle } from "./titles.ts";
import type { Trial } from "./trial.ts";

const TABLE_HEAD = "| guard | where | test |\n| --- | --- | --- |\n";

/** The rows of docs/guarantees.md for these trials; a guard that nobody missed has none. */
export function tableOf(trials: readonly Trial[], read: (path: string) => string): string {
  const rows = trials.flatMap(({ guard, verdict }) => {
    if (verdict.kind !== "caught") return [];
    const { file, title } = verdict.by;
    return [
      `| ${guard.promise} | \`${guard.file}\` | \`${file}\` “${sourceTitle(file, read(file), title)}” |\n`,
    ];
  });
  return TABLE_HEAD + rows.join("");
}
