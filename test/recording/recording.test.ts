import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { pictureOf } from "../../apps/recording/src/picture.ts";
import { record, withoutPauses } from "../../apps/recording/src/record.ts";
import { replay } from "../../apps/recording/src/replay.ts";

const SIZE = { columns: 20, rows: 3 };

function said(atMs: number, text: string): { atMs: number; bytes: Uint8Array } {
  return { atMs, bytes: new TextEncoder().encode(text) };
}

test("a command runs on a terminal of the wanted size, and its exit code is kept", async () => {
  const cwd = await mkdtemp(`${tmpdir()}/junban-recording-`);
  onTestFinished(async () => rm(cwd, { recursive: true }));
  const { pieces, exitCode } = await record({
    ...SIZE,
    command: "stty size; test -t 1 && echo on a terminal; exit 3",
    cwd,
    withinMs: 30_000,
  });
  expect(exitCode).toBe(3);
  const [frame] = (await replay(pieces, { ...SIZE, everyMs: 60_000 })).slice(-1);
  expect(frame?.rows.map((row) => row.map(({ text }) => text).join())).toEqual(["3 20", "on a terminal", ""]);
});

test("pauses are shortened, and what is quick keeps its pace", () => {
  const pieces = [said(100, "a"), said(150, "b"), said(9_150, "c"), said(9_250, "d")];
  expect(withoutPauses(pieces, 1_000).map(({ atMs }) => atMs)).toEqual([100, 150, 1_150, 1_250]);
});

test("frames are what the terminal showed: rewritten lines, colours, and only what is new", async () => {
  const frames = await replay(
    [
      said(0, "one\r\n"),
      said(40, "\u001b[36mtwo\u001b[0m  \u001b[1mthree"),
      said(90, "\r\u001b[2K\u001b[22;2mfour"),
    ],
    { ...SIZE, everyMs: 50 },
  );
  expect(frames.map(({ atMs }) => atMs)).toEqual([0, 50, 100]);
  expect(frames[1]?.rows).toEqual([
    [{ column: 0, text: "one", color: null, bold: false, dim: false }],
    [
      { column: 0, text: "two", color: 6, bold: false, dim: false },
      { column: 5, text: "three", color: null, bold: true, dim: false },
    ],
    [],
  ]);
  expect(frames[2]?.rows[1]).toEqual([{ column: 0, text: "four", color: null, bold: false, dim: true }]);
});

test("the picture draws a row that stays once, stops at each frame, and escapes what would be markup", async () => {
  const frames = await replay([said(0, "<stays> & \r\n"), said(60, "moves\r\n"), said(120, "on")], {
    ...SIZE,
    everyMs: 50,
  });
  const picture = pictureOf(frames, { ...SIZE, title: "a & b", description: "what happens", holdMs: 880 });
  expect(picture.split("&lt;stays&gt; &amp;").length - 1).toBe(1);
  expect(picture).toContain("<title>what happens</title>");
  expect(picture).toContain("a &amp; b");
  const stops = [...picture.matchAll(/([\d.]+)%\{transform:translateY\((-?\d+)px\)\}/g)];
  expect(stops.map(([, , shift]) => Number(shift))).toEqual(
    [0, -54, -108, -162, -162].slice(0, stops.length),
  );
  expect(Number(stops.at(-2)?.[1])).toBeLessThan(20);
});

test("the picture in the documentation is one of these, and small enough for a page", async () => {
  const file = new URL("../../docs/demo.svg", import.meta.url);
  expect((await stat(file)).size).toBeLessThan(1_000_000);
  const picture = await readFile(file, "utf8");
  for (const text of ["SIGKILL to worker", "lost", "inversions", "drift", "orders audited"]) {
    expect(picture).toContain(text);
  }
});
