import { fileURLToPath } from "node:url";
import { type ProcessTree, startProcess } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { StandardOutput } from "../../packages/service/src/standard-output.ts";

const FIXTURE = fileURLToPath(new URL("standard-output.fixture.ts", import.meta.url));

/** The fixture, with its standard output going where the end of a shell command says. */
async function logInto(where: string, lines: number): Promise<ProcessTree> {
  const tree = await startProcess({
    command: "sh",
    args: [
      "-c",
      `{ "$0" --import tsx --conditions @junban/source "$1" "$2"; echo "ended with $?" >&2; } ${where}`,
      process.execPath,
      FIXTURE,
      String(lines),
    ],
  });
  onTestFinished(async () => {
    await tree.stop({ signal: "SIGKILL", graceMs: 0 });
  });
  return tree;
}

describe("a process whose log", () => {
  test.each([0, 1, 50])(
    "has no reader any more ends when it should and with its own exit code, be it after %i lines",
    async (lines) => {
      const tree = await logInto("| true", lines);
      await tree.waitForLine("said everything");
      expect(await tree.waitForLine("ended with")).toBe("ended with 2");
    },
    60_000,
  );

  test("loses its reader after the first line goes on, ends when it should, and with its own exit code", async () => {
    const tree = await logInto("| head -n 1", 2_000);
    await tree.waitForLine('"line":0');
    await tree.waitForLine("said everything");
    expect(await tree.waitForLine("ended with")).toBe("ended with 2");
  }, 60_000);

  test("is held but not read waits for no reader: it goes on and ends when it should", async () => {
    // Far more than a pipe holds and than may wait.
    const tree = await logInto("| sleep 1000", 5_000);
    await tree.waitForLine("said everything");
    expect(await tree.waitForLine("ended with")).toBe("ended with 2");
  }, 60_000);

  test("is read until the end loses no line, not even the last one before its exit", async () => {
    const tree = await logInto("| cat", 300);
    expect(await tree.waitForLine("ended with")).toBe("ended with 2");
    await tree.exited;
    expect(tree.stdout().match(/"msg":"line"/g)).toHaveLength(300);
    expect(tree.stdout()).toContain('"msg":"shut down"');
  }, 60_000);

  test("finds its disk full goes on", async () => {
    const tree = await logInto("> /dev/full", 50);
    expect(await tree.waitForLine("ended with")).toBe("ended with 2");
  }, 60_000);
});

test("what waits for a reader is bounded, and a gap in the log is told once it is read again", () => {
  const written: string[] = [];
  let waiting = 0;
  const output = new StandardOutput({
    on: () => process.stdout,
    write: (line: string | Uint8Array) => written.push(String(line)) > 0,
    get writableLength() {
      return waiting;
    },
  });
  output.write("one\n");
  waiting = 2 ** 20 + 1;
  output.write("two\n");
  output.write("three\n");
  waiting = 0;
  output.write("four\n");
  output.write("five\n");
  expect(written).toEqual(["one\n", expect.stringContaining('"dropped":2'), "four\n", "five\n"]);
});
