import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { fileLines, type FileLine } from "../../apps/cli/src/file-lines.ts";

async function linesOf(chunks: readonly (string | Buffer)[], maxBytes = 100): Promise<FileLine[]> {
  const lines: FileLine[] = [];
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  for await (const line of fileLines(stream as AsyncIterable<Buffer>, { maxBytes })) lines.push(line);
  return lines;
}

describe("reading a file line by line", () => {
  test("numbers lines from 1 and counts blank ones without giving them", async () => {
    expect(await linesOf(["a\n\n  \nb\n"])).toEqual([
      { number: 1, text: "a" },
      { number: 4, text: "b" },
    ]);
  });

  test("gives a last line that does not end", async () => {
    expect(await linesOf(["a\nb"])).toEqual([
      { number: 1, text: "a" },
      { number: 2, text: "b" },
    ]);
  });

  test("joins a line, and a character, that arrive in pieces", async () => {
    const bytes = Buffer.from("été\nfin\n");
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    expect(await linesOf(pieces)).toEqual([
      { number: 1, text: "été" },
      { number: 2, text: "fin" },
    ]);
  });

  test("passes over a line that is too long, however it arrives, and goes on with the next", async () => {
    const long = "x".repeat(101);
    for (const chunks of [
      [`a\n${long}\nb\n`],
      ["a\n", ...long.split(""), "\nb\n"],
      [`a\n${long.slice(0, 60)}`, `${long.slice(60)}\nb`],
    ]) {
      expect(await linesOf(chunks)).toEqual([
        { number: 1, text: "a" },
        { number: 2, text: null, problem: "longer than 100 bytes" },
        { number: 3, text: "b" },
      ]);
    }
  });

  test("takes a line of exactly the limit", async () => {
    const text = "x".repeat(100);
    expect(await linesOf([`${text}\n`])).toEqual([{ number: 1, text }]);
  });

  test("refuses bytes that are not UTF-8 and leaves the neighbours alone", async () => {
    expect(
      await linesOf([Buffer.concat([Buffer.from("a\n"), Buffer.from([0xff, 0xfe]), Buffer.from("\nb\n")])]),
    ).toEqual([
      { number: 1, text: "a" },
      { number: 2, text: null, problem: "not UTF-8" },
      { number: 3, text: "b" },
    ]);
  });
});
