import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { agree, type Terminal } from "../../apps/cli/src/confirm.ts";
import { FoundWrong, UsageError } from "../../apps/cli/src/exit.ts";

interface Screen extends Terminal {
  typed(text: string): void;
  ended(): void;
  shown(): string;
}

function screen({ isTTY }: { readonly isTTY: boolean }): Screen {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  return {
    stdin: Object.assign(stdin, { isTTY }) as unknown as NodeJS.ReadStream,
    stderr: Object.assign(stderr, { isTTY }) as unknown as NodeJS.WriteStream,
    typed: (text) => stdin.write(text),
    ended: () => stdin.end(),
    shown: () => String(stderr.read() ?? ""),
  };
}

const intent = { says: "This deletes it for good.", yes: false, isGrave: true };
const { signal } = new AbortController();

describe("before something is changed", () => {
  test.each(["y\n", "yes\n", "Y\n"])(
    "the answer %j goes on, and the question said what will be done",
    async (typed) => {
      const terminal = screen({ isTTY: true });
      terminal.typed(typed);
      await agree(terminal, { ...intent, signal });
      expect(terminal.shown()).toBe("This deletes it for good.\nGo on? [y/N] ");
    },
  );

  test.each(["\n", "n\n", "yep\n"])("the answer %j does not", async (typed) => {
    const terminal = screen({ isTTY: true });
    terminal.typed(typed);
    await expect(agree(terminal, { ...intent, signal })).rejects.toBeInstanceOf(FoundWrong);
  });

  test("neither does the end of input, nor Ctrl-C", async () => {
    const left = screen({ isTTY: true });
    left.ended();
    await expect(agree(left, { ...intent, signal })).rejects.toThrow("nothing was changed");
    const interrupt = new AbortController();
    const asked = agree(screen({ isTTY: true }), { ...intent, signal: interrupt.signal });
    interrupt.abort();
    await expect(asked).rejects.toThrow("nothing was changed");
  });

  test("--yes asks nobody", async () => {
    const terminal = screen({ isTTY: true });
    await agree(terminal, { ...intent, yes: true, signal });
    expect(terminal.shown()).toBe("");
  });

  test("where nobody can be asked, what is grave is refused and says what it would have done", async () => {
    const refused = agree(screen({ isTTY: false }), { ...intent, signal });
    await expect(refused).rejects.toBeInstanceOf(UsageError);
    await expect(refused).rejects.toThrow(/This deletes it for good[^]*--yes/u);
  });

  test("and what can be put right goes on", async () => {
    await expect(
      agree(screen({ isTTY: false }), { ...intent, isGrave: false, signal }),
    ).resolves.toBeUndefined();
  });
});
