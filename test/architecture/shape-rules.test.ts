import { describe, expect, test } from "vitest";
import { wrongLuaHeaders } from "./rules/lua-headers.ts";
import { mutableModuleState } from "./rules/module-state.ts";
import { wrongNames } from "./rules/names.ts";
import { longFiles, longFunctions } from "./rules/sizes.ts";
import { parseSource } from "./rules/source.ts";
import {
  dodgedTests,
  suppressionCounts,
  suppressions,
  unreasonedSuppressions,
} from "./rules/suppressions.ts";

describe("sizes", () => {
  const lines = (count: number): string => Array.from({ length: count }, (_, at) => `  // ${at}`).join("\n");

  test("flags a file of 401 lines and passes one of 400", () => {
    expect(longFiles([{ path: "a.ts", text: `${lines(401)}\n` }])).toHaveLength(1);
    expect(longFiles([{ path: "a.ts", text: `${lines(400)}\n` }])).toEqual([]);
  });

  test("flags a function of 71 lines by its name and passes one of 70", () => {
    const named = (count: number): string => `export function decide() {\n${lines(count - 2)}\n}\n`;
    const found = longFunctions([parseSource("packages/orders/src/a.ts", named(71))]);
    expect(found.map((violation) => violation.where)).toEqual(["packages/orders/src/a.ts#decide"]);
    expect(longFunctions([parseSource("packages/orders/src/a.ts", named(70))])).toEqual([]);
  });

  test("names methods and arrow functions", () => {
    const text = `class A {\n  settle() {\n${lines(70)}\n  }\n}\nconst take = () => {\n${lines(70)}\n};`;
    const found = longFunctions([parseSource("packages/orders/src/a.ts", text)]);
    expect(found.map((violation) => violation.where.split("#")[1])).toEqual(["settle", "take"]);
  });

  test("lets the callback of a test be long, but not a function beside it", () => {
    const text = `describe("x", () => {\n${lines(80)}\n});\nfunction setUp() {\n${lines(80)}\n}`;
    const found = longFunctions([parseSource("test/orders/a.test.ts", text)]);
    expect(found.map((violation) => violation.where.split("#")[1])).toEqual(["setUp"]);
  });
});

describe("module state", () => {
  const state = (text: string): string[] =>
    mutableModuleState([parseSource("packages/orders/src/a.ts", text)]).map((violation) => violation.says);

  test.each([
    ["a let", `let turns = 0;`],
    ["a bare Map", `const lanes = new Map<string, number>();`],
    ["an exported bare Set", `export const seen = new Set<string>();`],
    ["a WeakMap", `const owners = new WeakMap<object, string>();`],
    [
      "a Map that is typed readonly and changed all the same",
      `const m: ReadonlyMap<string, number> = new Map(); (m as Map<string, number>).set("a", 1); m.clear();`,
    ],
    ["an array that grows", `const queue: string[] = []; export function add(x: string) { queue.push(x); }`],
    [
      "an object that is assigned into",
      `const cache: Record<string, number> = {}; export const put = (k: string) => { cache[k] = 1; };`,
    ],
    [
      "an object whose field is counted up",
      `const counters = { seen: 0 }; export const see = () => { counters.seen++; };`,
    ],
    [
      "an object that loses a field",
      `const cache: Record<string, number> = {}; export const drop = (k: string) => { delete cache[k]; };`,
    ],
    [
      "an object changed through Object.assign",
      `const settings = { a: 1 }; export const put = () => Object.assign(settings, { a: 2 });`,
    ],
    ["an exported array anybody may change", `export const FAMILIES = ["payment"];`],
    ["an exported table typed as a Record", `export const UNITS: Record<string, number> = { JPY: 0 };`],
    ["an instance that may remember", `const emitter = new EventEmitter();`],
    [
      "a sticky regular expression that is executed",
      `const WORD = /\\w+/g; export const next = (text: string) => WORD.exec(text);`,
    ],
    ["a static field", `class Ids { static next = 1; }`],
  ])("flags %s", (_, text) => {
    expect(state(text)).not.toEqual([]);
  });

  test.each([
    ["a readonly Map", `const units: ReadonlyMap<string, number> = new Map([["JPY", 0]]);`],
    ["a constant list", `export const FAMILIES = ["payment"] as const;`],
    ["a constant table", `export const EXIT = { done: 0 } as const satisfies Record<string, number>;`],
    ["a readonly list", `export const KINDS: readonly string[] = ["order"];`],
    [
      "a table with a type of its own",
      `export const RULES: EventRules<"cancel.requested"> = { "cancel.requested": 1 };`,
    ],
    ["a private table that nobody changes", `const LIMITS = { lines: 200 };`],
    ["a plain pattern", `const LCID = /^[a-z]+$/; export const ok = (text: string) => LCID.test(text);`],
    ["a text decoder", `const decoder = new TextDecoder();`],
    ["a readonly static", `class Ids { static readonly first = 1; }`],
    [
      "state inside a function",
      `export function count() { let n = 0; const seen = new Map<string, number>(); seen.set("a", n++); return seen; }`,
    ],
    ["a declaration of somebody else's", `declare const now: number;`],
  ])("passes %s", (_, text) => {
    expect(state(text)).toEqual([]);
  });
});

describe("Lua headers", () => {
  const parts = {
    path: "packages/handoff-lock/lua/parts/mend.lua",
    text: "local function mend(wait) return wait end\n",
  };
  const faults = (lines: readonly string[]): string[] =>
    wrongLuaHeaders([{ path: "packages/handoff-lock/lua/x.lua", text: lines.join("\n") }, parts]).map(
      (violation) => violation.says,
    );

  test("passes a header that matches", () => {
    const header = [
      "-- Drops requests.",
      "--",
      "-- KEYS",
      "--   1 lock",
      "-- ARGV",
      "--   1 token",
      "--   2… request keys",
    ];
    const body = ["for i = 2, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i], ARGV[1]) end", "return mend(1)"];
    expect(faults([...header, "-- Returns", "--   1 always", "--", "-- use: mend", "", ...body])).toEqual([]);
  });

  test("flags a key the body reads and the header does not name", () => {
    const header = ["-- KEYS", "--   1 lock", "-- Returns", "--   1 always"];
    expect(faults([...header, "redis.call('DEL', KEYS[1], KEYS[2])"])).toEqual([
      "reads KEYS[2], which its header does not name",
    ]);
  });

  test("flags an argument the header names and the body does not read, even when a comment mentions it", () => {
    const header = ["-- KEYS", "--   1 lock", "-- ARGV", "--   1 token", "-- Returns", "--   1 always"];
    expect(faults([...header, "redis.call('DEL', KEYS[1]) -- ARGV[1]"])).toEqual([
      "names ARGV 1 in its header and never reads it",
    ]);
  });

  test("flags a header that does not say what the script returns", () => {
    expect(faults(["-- KEYS", "--   1 lock", "redis.call('DEL', KEYS[1])"])).toEqual([
      "does not say in its header what it returns",
    ]);
  });

  test("flags arguments read by a computed number that no header names, and the reverse", () => {
    expect(faults(["-- Returns", "--   1 always", "return ARGV[i]"])).toHaveLength(1);
    expect(faults(["-- ARGV", "--   3… keys", "-- Returns", "--   1 always", "return 1"])).toHaveLength(1);
  });

  test("flags a part that is used and not named, named and not there, or reads a table itself", () => {
    expect(faults(["-- Returns", "--   1 always", "return mend(1)"])).toEqual([
      'calls into mend without a line "use: mend"',
    ]);
    expect(faults(["-- Returns", "--   1 always", "-- use: gone", "return 1"])).toEqual([
      "uses gone, which is no part",
    ]);
    const reader = {
      path: "packages/handoff-lock/lua/parts/take.lua",
      text: "local function take() return KEYS[1] end",
    };
    expect(wrongLuaHeaders([reader])).toHaveLength(1);
  });
});

describe("suppressions", () => {
  const parsed = (text: string) => [parseSource("packages/orders/src/a.ts", text)];

  test("flags one without a reason", () => {
    expect(
      unreasonedSuppressions(parsed(`// oxlint-disable-next-line no-console\nconsole.log(1);`)),
    ).toHaveLength(1);
    expect(unreasonedSuppressions(parsed(`// @ts-expect-error\nf();`))).toHaveLength(1);
    expect(unreasonedSuppressions(parsed(`/* eslint-disable no-console -- why */`))).toHaveLength(1);
  });

  test("flags one that names no rule, and one that never expires", () => {
    expect(
      unreasonedSuppressions(parsed(`// oxlint-disable-next-line -- the table has forty rows\nf();`)),
    ).toHaveLength(1);
    expect(
      unreasonedSuppressions(parsed(`// @ts-ignore -- the types of the library are wrong\nf();`)),
    ).toHaveLength(1);
  });

  test("passes and counts one with a rule and a reason", () => {
    const source = parsed(
      `// oxlint-disable-next-line complexity -- mirrors the table of transitions row by row\nf();`,
    );
    expect(unreasonedSuppressions(source)).toEqual([]);
    expect(suppressions(source)).toEqual([
      {
        path: "packages/orders/src/a.ts",
        line: 1,
        directive: "oxlint-disable-next-line complexity",
        reason: "mirrors the table of transitions row by row",
      },
    ]);
  });

  test("counts them by file", () => {
    const disable = `// oxlint-disable-next-line complexity -- mirrors the table of transitions row by row\nf();\n`;
    expect(suppressionCounts(parsed(disable + disable))).toEqual({ "packages/orders/src/a.ts": 2 });
  });

  test("flags tests that are skipped, run alone, expected to fail or retried", () => {
    const dodged = (text: string): number => dodgedTests([parseSource("test/orders/a.test.ts", text)]).length;
    expect(dodged(`test.skip("x", () => {});`)).toBe(1);
    expect(dodged(`describe.only("x", () => {});`)).toBe(1);
    expect(dodged(`it.fails("x", () => {});`)).toBe(1);
    expect(dodged(`test("x", { retry: 3 }, () => {});`)).toBe(1);
    expect(dodged(`test("x", { timeout: 3 }, () => {});`)).toBe(0);
  });
});

describe("names", () => {
  test.each([
    "packages/orders/src/utils/a.ts",
    "packages/common/src/a.ts",
    "test/helpers.ts",
    "apps/cli/src/core/a.ts",
  ])("flags %s", (path) => {
    expect(wrongNames([path])).toHaveLength(1);
  });

  test("flags a module that is not in kebab-case", () => {
    expect(
      wrongNames(["packages/orders/src/OrderState.ts", "packages/orders/src/order_state.ts"]),
    ).toHaveLength(2);
    expect(
      wrongNames(["packages/orders/src/order-state.ts", "test/orders/state.test.ts", "README.md"]),
    ).toEqual([]);
  });
});
