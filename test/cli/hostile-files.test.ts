import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLanes } from "@junban/handoff-lock";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { authorized, line, openShell, placed, type Shell } from "./junban.ts";

const SEED = Number(process.env["JUNBAN_FUZZ_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const LINES = 300 * Number(process.env["JUNBAN_FUZZ_RUNS"] ?? 2);

/** What moves a cursor, hides, or turns the rest of a line around. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

interface Line {
  readonly bytes: string | Buffer;
  /** What stands behind `line N: `, if anything is said of it. */
  readonly says?: string | RegExp;
}

/** A file of these lines, as bytes: what a pipe of text could not hold. */
async function fileOf(lines: readonly Line[], end = "\n"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "junban-hostile-"));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "events.ndjson");
  await writeFile(file, Buffer.concat(lines.flatMap(({ bytes }) => [Buffer.from(bytes), Buffer.from(end)])));
  return file;
}

/** The ids that stand in an order's lane, in their order. */
async function standing(shell: Shell, lcid: string): Promise<string[]> {
  const lanes = createLanes({ redis: freshRedis().connect(), prefix: shell.prefix, batch: 1_000 });
  const entry = await lanes.enter(lcid);
  if (entry.kind !== "turn") throw new Error("the lane is held");
  const ids = entry.turn.requests.map(({ body }) => (JSON.parse(body) as { id: string }).id);
  await entry.turn.leave();
  await lanes.close();
  return ids;
}

const idOf = (text: string): string => (JSON.parse(text) as { id: string }).id;

const NO_JSON = "event: expected well-formed JSON";
const NO_OBJECT = "event: expected a JSON object";
const NO_TEXT = "not UTF-8";
const TOO_LONG = "longer than 1048576 bytes";
const NAME = "expected a string of 1 to 256 characters without control characters or lone surrogates";
const LCID = "lcid: expected 1 to 128 characters of 0-9 A-Z a-z . _ : @ / + = ~ -";
const doomed = (rule: string): string => `accepted, but will be rejected: INVALID_PAYLOAD ${rule}`;

/** The event's text with a member written as no object would be. */
function withMember(name: string, value: string): string {
  return authorized("A", "odd").replace("{", `{${JSON.stringify(name)}:${value},`);
}

function withData(name: string, value: string): string {
  return authorized("A", "odd").replace('"data":{', `"data":{${JSON.stringify(name)}:${value},`);
}

const HOSTILE: readonly Line[] = [
  { bytes: "not JSON", says: NO_JSON },
  { bytes: Buffer.from([0xff, 0xfe, 0x41]), says: NO_TEXT },
  { bytes: Buffer.concat([Buffer.from(authorized("A", "b")), Buffer.from([0xc3])]), says: NO_TEXT },
  { bytes: "\0", says: NO_JSON },
  { bytes: `${authorized("A", "n")}\0`, says: NO_JSON },
  { bytes: authorized("A", "half").slice(0, 60), says: NO_JSON },
  { bytes: "\u001b[2J\u001b[1;1H", says: NO_JSON },
  { bytes: "x".repeat(1_100_000), says: TOO_LONG },
  { bytes: "[".repeat(100_000), says: NO_JSON },
  { bytes: `${"[".repeat(10_000)}${"]".repeat(10_000)}`, says: NO_OBJECT },
  { bytes: "null", says: NO_OBJECT },
  { bytes: "1e400", says: NO_OBJECT },
  { bytes: "{}", says: 'specversion: expected the string "1.0"' },
  {
    bytes: line("A", "payment.authorized", {}, { specversion: 1 }),
    says: 'specversion: expected the string "1.0"',
  },
  { bytes: line("A", "payment.authorized", {}, { id: 7 }), says: `id: ${NAME}` },
  { bytes: line("A", "payment.authorized", {}, { id: "\u001b[2J" }), says: `id: ${NAME}` },
  { bytes: line("A", "payment.authorized", {}, { source: "\ud800" }), says: `source: ${NAME}` },
  { bytes: line("A", "x".repeat(300), {}), says: `type: ${NAME}` },
  ...["'); DROP TABLE orders;--", "{A}", "*", "$(id)", "`id`", "a\r\nFLUSHALL", "", " A", "é"].map(
    (lcid) => ({
      bytes: line(lcid, "payment.authorized", {}),
      says: LCID,
    }),
  ),
  {
    bytes: line("A", "payment.authorized", { note: "x".repeat(70_000) }),
    says: "an event is at most 65536 bytes of JSON",
  },
  {
    bytes: withData("x", "9007199254740993"),
    says: doomed("data.x: expected an integer of at most 2^53 - 1 in size"),
  },
  { bytes: withData("x", "1e400"), says: doomed("data.x: expected a finite number") },
  { bytes: withData("x", '"\\u0000"'), says: doomed("data.x: expected no NUL and no lone surrogate") },
  {
    bytes: withData("x", "[".repeat(40) + "]".repeat(40)),
    says: /^accepted, but will be rejected: INVALID_PAYLOAD data\.x\S*: expected at most 32 levels/,
  },
  {
    bytes: withData("__proto__", "{}"),
    says: doomed("data.__proto__: expected no __proto__ and no constructor.prototype"),
  },
  { bytes: withData("\u001b[2J", "1e400"), says: doomed("data.?: expected a finite number") },
  { bytes: withMember("data", '"\\u0000"') },
  { bytes: withMember("specversion", "0") },
];

test("every bad line is refused by its number and its rule, and every good neighbour is published in its place", async () => {
  const shell = await openShell();
  const good = [
    placed("N"),
    ...Array.from({ length: HOSTILE.length }, (_, index) => authorized("N", `n-${index}`)),
  ];
  const lines: Line[] = [
    { bytes: `\ufeff${good[0]}` },
    ...HOSTILE.flatMap((hostile, index) => [
      hostile,
      { bytes: ["", " \t", "\r"][index % 3] ?? "" },
      { bytes: good[index + 1] ?? "" },
    ]),
  ];
  const file = await fileOf(lines, "\r\n");
  const run = await shell.junban(["publish", file]);
  expect(run.code).toBe(1);
  const said = new Map(
    [...run.out.matchAll(/^line (\d+): (.*)$/gmu)].map(([, number, reason = ""]) => [Number(number), reason]),
  );
  for (const [index, { bytes, says }] of lines.entries()) {
    const told = [String(bytes).slice(0, 60), said.get(index + 1)];
    expect(told).toEqual([told[0], typeof says === "object" ? expect.stringMatching(says) : says]);
  }
  expect(await standing(shell, "N")).toEqual(good.map(idOf));
  const refused = HOSTILE.filter(
    ({ says }) => says !== undefined && !String(says).includes("accepted"),
  ).length;
  expect(run.out).toContain(`${good.length + HOSTILE.length - refused} published, ${refused} refused`);
  expect((run.out + run.err).replaceAll("\n", "")).not.toMatch(UNPRINTABLE);
}, 60_000);

/** A line of bytes that holds no end of one. */
const bytesOfALine = fc
  .oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.string({ unit: "binary", maxLength: 100 }).map((text) => Buffer.from(text)),
    fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text)),
    fc
      .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.uint8Array({ maxLength: 4 }))
      .map(([share, bytes]) => {
        const event = Buffer.from(authorized("H", "h"));
        const at = Math.floor(share * event.length);
        return Buffer.concat([event.subarray(0, at), bytes, event.subarray(at)]);
      }),
  )
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a)));

test(`whatever the bytes of a file are, its good lines are published in order, and a terminal is left alone (seed ${SEED})`, async () => {
  const shell = await openShell();
  const hostile = fc.sample(bytesOfALine, { seed: SEED, numRuns: LINES });
  const good = [placed("N"), ...Array.from({ length: 99 }, (_, index) => authorized("N", `n-${index}`))];
  const lines = hostile.flatMap((bytes, index): Line[] => {
    const neighbour = index % Math.ceil(LINES / 100) === 0 ? good[index / Math.ceil(LINES / 100)] : undefined;
    return neighbour === undefined ? [{ bytes }] : [{ bytes: neighbour }, { bytes }];
  });
  const run = await shell.junban(["publish", await fileOf(lines), "--json"]);
  expect(run.code).toBe(1);
  expect(await standing(shell, "N")).toEqual(good.map(idOf));
  const { published, refused, refusedLines } = run.json() as {
    published: number;
    refused: number;
    refusedLines: readonly { readonly line: number; readonly reason: string }[];
  };
  const blank = lines.filter(({ bytes }) => String(bytes).trim() === "").length;
  expect(published + refused).toBe(lines.length - blank);
  expect(refusedLines).toHaveLength(refused);
  for (const { reason } of refusedLines) expect(reason).toMatch(/^(?:not UTF-8|\w+: expected .+)$/);
  expect((run.out + run.err).replaceAll("\n", "")).not.toMatch(UNPRINTABLE);
}, 120_000);
