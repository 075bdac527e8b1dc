import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { completionFor } from "../../apps/cli/src/completion.ts";
import { createProgram } from "../../apps/cli/src/program.ts";

const program = createProgram({});

/** What bash offers behind these words, asked of bash itself. */
function offered(...words: readonly string[]): string[] {
  const script = `${completionFor("bash", program)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
complete -p junban >/dev/null && _junban && printf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = spawnSync("bash", ["--norc", "-c", script, "bash", "junban", ...words], {
    encoding: "utf8",
    timeout: 20_000,
  });
  expect(run.stderr).toBe("");
  return run.stdout.split("\n").filter((word) => word !== "");
}

describe("in bash", () => {
  test("every command is offered, and what was begun is completed", () => {
    expect(offered("")).toEqual(expect.arrayContaining(program.commands.map((one) => one.name())));
    expect(offered("pu")).toEqual(["publish", "purge"]);
    expect(offered("dlq", "re")).toEqual(["replay"]);
  });

  test("every option of every command is offered behind it", () => {
    const below = program.commands.flatMap((one) => [
      [one, [one.name()]] as const,
      ...one.commands.map((inner) => [inner, [one.name(), inner.name()]] as const),
    ]);
    expect(below.length).toBeGreaterThan(18);
    for (const [command, path] of below) {
      const expected = command.options.map(({ long }) => long);
      expect(offered(...path, "--"), path.join(" ")).toEqual(expect.arrayContaining([...expected, "--help"]));
    }
  });

  test("an argument's closed list is offered", () => {
    expect(offered("completion", "")).toEqual(expect.arrayContaining(["bash", "zsh", "fish"]));
  });

  test("behind an option that takes a value nothing is offered, so that files are", () => {
    expect(offered("dlq", "--reason", "")).toEqual([]);
    expect(offered("dlq", "--failed", "rep")).toEqual(["replay"]);
  });

  test("an argument that is called like a command does not lead astray", () => {
    expect(offered("order", "dlq", "--h")).toEqual(["--history", "--help"]);
  });
});

test.each(["zsh", "fish"] as const)("the script for %s names every command and its descriptions", (shell) => {
  const script = completionFor(shell, program);
  for (const command of program.commands) {
    expect(script).toContain(command.name());
    expect(script).toContain(command.description().replaceAll("'", String.raw`'\''`));
  }
  // Where the shell is there, it reads the script itself.
  const reading = spawnSync(shell, ["-n", "-c", script], { encoding: "utf8", timeout: 20_000 });
  if (reading.error === undefined) expect([reading.status, reading.stderr]).toEqual([0, ""]);
});
