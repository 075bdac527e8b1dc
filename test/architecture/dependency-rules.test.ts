import { describe, expect, test } from "vitest";
import { deepImports, idleOpenings, wrongArrows } from "./rules/arrows.ts";
import { idleSiblings, undeclaredImports } from "./rules/declared.ts";
import { facelessPackages } from "./rules/faces.ts";
import { idleLibraryRooms, strayLibraries, strayLua, strayLuaFiles, straySql } from "./rules/rooms.ts";
import { parseSource } from "./rules/source.ts";
import type { Workspace } from "./rules/tree.ts";
import { beyond } from "./rules/violation.ts";
import type { Violation } from "./rules/violation.ts";

const says = (violations: readonly Violation[]): string[] => violations.map((violation) => violation.says);

const workspace = (folder: string, given: Partial<Workspace> = {}): Workspace => ({
  folder,
  name: `@junban/${folder.split("/")[1]}`,
  dependencies: [],
  devDependencies: [],
  exported: ["."],
  references: [],
  ...given,
});

describe("arrows", () => {
  const arrow = (path: string, text: string): string[] => says(wrongArrows([parseSource(path, text)]));

  test.each(["orders", "handoff-lock", "service", "sandbox"])("flags any sibling imported by %s", (name) => {
    const target = name === "orders" ? "handoff-lock" : "orders";
    expect(arrow(`packages/${name}/src/a.ts`, `import { x } from "@junban/${target}";`)).toEqual([
      `imports @junban/${target}; ${name} may not`,
    ]);
  });

  test("flags the lane in the store, and the store in the queues", () => {
    const lane = `import { createLanes } from "@junban/handoff-lock";`;
    expect(arrow("packages/order-store/src/a.ts", lane)).toHaveLength(1);
    expect(arrow("packages/event-queues/src/a.ts", lane)).toEqual([]);
    expect(arrow("packages/event-queues/src/a.ts", `export * from "@junban/order-store";`)).toHaveLength(1);
  });

  test("flags a value, and passes a type, that order-stories takes from orders", () => {
    const path = "packages/order-stories/src/a.ts";
    expect(arrow(path, `import { decide } from "@junban/orders";`)).toHaveLength(1);
    expect(arrow(path, `import { decide, type Line } from "@junban/orders";`)).toHaveLength(1);
    expect(arrow(path, `const orders = await import("@junban/orders");`)).toHaveLength(1);
    expect(
      arrow(path, `import type { Line } from "@junban/orders"; export type { Ref } from "@junban/orders";`),
    ).toEqual([]);
  });

  test("flags a throwaway server or an invented history in production code", () => {
    const sandbox = `import { startRedis } from "@junban/sandbox";`;
    expect(arrow("apps/worker/src/main.ts", sandbox)).toEqual([
      "imports @junban/sandbox, which never runs in production",
    ]);
    expect(arrow("apps/cli/src/main.ts", `import type { Story } from "@junban/order-stories";`)).toHaveLength(
      1,
    );
    expect(arrow("apps/cli/src/demo/main.ts", sandbox)).toEqual([]);
  });

  test("flags an app imported by a package", () => {
    expect(arrow("packages/service/src/a.ts", `import { x } from "@junban/worker";`)).toEqual([
      "imports @junban/worker, which is not a package",
    ]);
  });

  test("flags a package that nobody entered in the table", () => {
    expect(arrow("packages/newcomer/src/a.ts", `import { x } from "@junban/orders";`)).toHaveLength(1);
  });
});

describe("deep imports", () => {
  const deep = (path: string, text: string): string[] => says(deepImports([parseSource(path, text)]));

  test("flags a path behind a package's name", () => {
    expect(deep("apps/worker/src/a.ts", `import { x } from "@junban/orders/src/decide.ts";`)).toHaveLength(1);
  });

  test("flags a relative path into another package", () => {
    expect(
      deep("packages/order-store/src/a.ts", `import { x } from "../../orders/src/decide.ts";`),
    ).toHaveLength(1);
    expect(deep("packages/order-store/src/a.ts", `import { x } from "./b.ts";`)).toEqual([]);
  });

  test("flags a test that opens a package other than its own", () => {
    expect(deep("test/orders/a.test.ts", `import { x } from "../../packages/orders/src/decide.ts";`)).toEqual(
      [],
    );
    expect(deep("test/orders/a.test.ts", `import { x } from "../support/eventually.ts";`)).toEqual([]);
    expect(
      deep("test/orders/a.test.ts", `import { x } from "../../packages/service/src/a.ts";`),
    ).toHaveLength(1);
    expect(deep("test/fleet/a.test.ts", `import { x } from "../orders/a.ts";`)).toHaveLength(1);
  });

  test("flags a folder that a test folder may open and does not", () => {
    const source = parseSource("test/cli/a.test.ts", `import { x } from "../../apps/cli/src/a.ts";`);
    expect(idleOpenings([])).toContain("test/cli → apps/cli");
    expect(idleOpenings([source])).not.toContain("test/cli → apps/cli");
  });
});

describe("faces", () => {
  const face = (text: string | null, given: Partial<Workspace> = {}): string[] =>
    says(
      facelessPackages(
        [workspace("packages/orders", given)],
        text === null ? [] : [parseSource("packages/orders/src/index.ts", text)],
      ),
    );
  const opening = `/**\n * The order domain: what each event does to an order. Not for reading or writing anything: no clock, no I/O.\n */\n`;

  test("flags a package without a face", () => {
    expect(face(null)).toHaveLength(1);
  });

  test("flags a face that does not open with its boundary", () => {
    expect(face(`export { decide } from "./decide.ts";`)).toHaveLength(1);
    expect(face(`// orders\nexport { decide } from "./decide.ts";`)).toHaveLength(1);
    expect(face(`export { decide } from "./decide.ts";\n${opening}`)).toHaveLength(1);
    expect(face(`${opening}export { decide } from "./decide.ts";`)).toEqual([]);
  });

  test("flags a face that defines something itself", () => {
    expect(face(`${opening}export const answer = 42;`)).toHaveLength(1);
  });

  test("flags a second entry in package.json", () => {
    expect(
      face(`${opening}export { decide } from "./decide.ts";`, { exported: [".", "./internals"] }),
    ).toHaveLength(1);
  });
});

describe("declared imports", () => {
  test("flags an import that only hoisting makes work", () => {
    const sources = [
      parseSource(
        "packages/orders/src/a.ts",
        `import { Pool } from "pg"; import { hash } from "node:crypto";`,
      ),
    ];
    const tree = { sources, rootDevDependencies: ["pg"], workspaces: [workspace("packages/orders")] };
    expect(says(undeclaredImports(tree))).toEqual(["imports pg, which its package.json does not declare"]);
    const declared = [workspace("packages/orders", { dependencies: ["pg"] })];
    expect(undeclaredImports({ ...tree, workspaces: declared })).toEqual([]);
  });

  test("flags a test's import that the root does not declare", () => {
    const sources = [
      parseSource("test/orders/a.test.ts", `import "vitest"; import "left-pad"; import "@junban/orders";`),
    ];
    const tree = { sources, rootDevDependencies: ["vitest"], workspaces: [workspace("packages/orders")] };
    expect(says(undeclaredImports(tree))).toEqual([
      "imports left-pad, which its package.json does not declare",
    ]);
  });

  test("flags a sibling that is declared and not imported, and a reference that disagrees", () => {
    const sources = [
      parseSource("packages/order-store/src/a.ts", `import { decide } from "@junban/orders";`),
    ];
    const orders = workspace("packages/orders");
    const store = workspace("packages/order-store", {
      dependencies: ["@junban/orders", "@junban/service"],
      references: ["packages/service"],
    });
    const service = workspace("packages/service");
    expect(says(idleSiblings({ sources, workspaces: [orders, service, store] }))).toEqual([
      "declares @junban/service, which no module of it imports",
      "does not reference packages/orders, which it imports",
      "references packages/service, which it does not import",
    ]);
  });
});

describe("rooms", () => {
  test("flags bullmq outside the queues", () => {
    const text = `import { Queue } from "bullmq";`;
    expect(strayLibraries([parseSource("apps/worker/src/a.ts", text)])).toHaveLength(1);
    expect(strayLibraries([parseSource("packages/event-queues/src/a.ts", text)])).toEqual([]);
    expect(strayLibraries([parseSource("test/fleet/a.test.ts", text)])).toEqual([]);
  });

  test("flags a room that may import a library and does not", () => {
    const source = parseSource("packages/service/src/a.ts", `import pino from "pino";`);
    expect(idleLibraryRooms([])).toContain("pino → packages/service/");
    expect(idleLibraryRooms([source])).not.toContain("pino → packages/service/");
  });

  test.each([
    "select lcid from orders where held > 0",
    "  SELECT pg_backend_pid()",
    "insert into outbox (lcid) values ($1)",
    "update orders set held = 0",
    "delete from order_refs where lcid = $1",
    "with due as (select 1) select * from due",
    "alter table orders add column note text",
    "set local lock_timeout = '2s'",
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    "commit",
  ])("flags the SQL in %j", (sql) => {
    const text = `export const statement = ${JSON.stringify(sql)};`;
    expect(straySql([parseSource("apps/cli/src/a.ts", text)])).toHaveLength(1);
    expect(straySql([parseSource("packages/order-store/src/a.ts", text)])).toEqual([]);
  });

  test("flags SQL in a template, and a call of .query(", () => {
    const text = `export const read = (table: string) => pool.query(\`select * from \${table}\`);`;
    expect(straySql([parseSource("apps/worker/src/a.ts", text)])).toHaveLength(2);
  });

  test.each([
    "select a family from the list",
    "update the changelog",
    "Begin with the first line",
    "with a reason",
    "drop the event",
    "set JUNBAN_PREFIX",
  ])("passes the prose %j", (prose) => {
    const found = straySql([
      parseSource("apps/cli/src/a.ts", `export const hint = ${JSON.stringify(prose)};`),
    ]);
    expect(found.filter(() => !prose.startsWith("select"))).toEqual([]);
  });

  test("flags Lua, and the commands that run it, outside its rooms", () => {
    const path = "packages/event-queues/src/a.ts";
    expect(
      strayLua([parseSource(path, "export const script = `return redis.call('get', KEYS[1])`;")]),
    ).toHaveLength(1);
    expect(strayLua([parseSource(path, `await redis.eval(script, 1, key);`)])).toHaveLength(1);
    expect(strayLua([parseSource(path, `redis.defineCommand("take", { lua });`)])).toHaveLength(1);
    expect(
      strayLua([parseSource("packages/handoff-lock/src/a.ts", `await redis.evalsha(sha, 1, key);`)]),
    ).toEqual([]);
    expect(
      strayLuaFiles([
        "packages/handoff-lock/lua/enter.lua",
        "packages/event-queues/lua/complete-jobs.lua",
        "packages/event-queues/lua/take.lua",
        "apps/worker/src/take.lua",
      ]),
    ).toHaveLength(2);
  });
});

describe("allowances", () => {
  const violation = { where: "a.ts", line: 3, says: "is too long" };

  test("pass what they name and nothing else", () => {
    expect(beyond([violation], [{ where: "a.ts", reason: "mirrors the table of transitions" }])).toEqual([]);
    expect(beyond([violation], [])).toEqual(["a.ts:3 is too long"]);
  });

  test("flags an allowance that is no longer needed", () => {
    expect(beyond([], [{ where: "a.ts", reason: "mirrors the table of transitions" }])).toHaveLength(1);
  });

  test("flags an allowance without a reason", () => {
    expect(beyond([violation], [{ where: "a.ts", reason: "legacy" }])).toHaveLength(1);
  });
});
