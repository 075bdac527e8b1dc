import { describe, expect, test } from "vitest";
import { ALLOWED, COUNTED_SUPPRESSIONS } from "./rules/allowed.ts";
import { deepImports, idleOpenings, SIBLINGS, wrongArrows } from "./rules/arrows.ts";
import { idleSiblings, undeclaredImports } from "./rules/declared.ts";
import { facelessPackages } from "./rules/faces.ts";
import { wrongLuaHeaders } from "./rules/lua-headers.ts";
import { mutableModuleState } from "./rules/module-state.ts";
import { wrongNames } from "./rules/names.ts";
import { idleLibraryRooms, strayLibraries, strayLua, strayLuaFiles, straySql } from "./rules/rooms.ts";
import { longFiles, longFunctions } from "./rules/sizes.ts";
import { dodgedTests, suppressionCounts, unreasonedSuppressions } from "./rules/suppressions.ts";
import { readTree } from "./rules/tree.ts";
import { beyond } from "./rules/violation.ts";

const tree = readTree();

test("every module can be read by the rules", () => {
  expect(tree.unreadable).toEqual([]);
});

describe("dependencies", () => {
  test("every package has a line in the table of arrows, and no line is without a package", () => {
    const packages = tree.workspaces.filter((workspace) => workspace.folder.startsWith("packages/"));
    expect(packages.map((workspace) => workspace.name.replace("@junban/", "")).toSorted()).toEqual(
      [...SIBLINGS.keys()].toSorted(),
    );
  });

  test("imports follow the arrows", () => {
    expect(beyond(wrongArrows(tree.sources), ALLOWED.arrows)).toEqual([]);
  });

  test("nobody imports past a package's face", () => {
    expect(beyond(deepImports(tree.sources), ALLOWED.deepImports)).toEqual([]);
  });

  test("no test folder may open what it does not open", () => {
    expect(idleOpenings(tree.sources)).toEqual([]);
  });

  test("each package has one public face that states its boundary", () => {
    expect(beyond(facelessPackages(tree.workspaces, tree.sources), ALLOWED.faces)).toEqual([]);
  });

  test("every import is declared by the workspace that imports", () => {
    expect(beyond(undeclaredImports(tree), ALLOWED.undeclared)).toEqual([]);
  });

  test("no workspace declares or references a sibling it does not use", () => {
    expect(beyond(idleSiblings(tree), ALLOWED.idle)).toEqual([]);
  });
});

describe("rooms", () => {
  test("each library is imported only where it belongs", () => {
    expect(beyond(strayLibraries(tree.sources), ALLOWED.libraries)).toEqual([]);
  });

  test("no room may import a library it does not import", () => {
    expect(idleLibraryRooms(tree.sources)).toEqual([]);
  });

  test("SQL lives in packages/order-store, and for a producer's database in packages/upstream-outbox", () => {
    expect(beyond(straySql(tree.sources), ALLOWED.sql)).toEqual([]);
  });

  test("Lua lives in packages/handoff-lock, and around the script that ends jobs in packages/event-queues", () => {
    expect(beyond([...strayLua(tree.sources), ...strayLuaFiles(tree.files)], ALLOWED.lua)).toEqual([]);
  });

  test("the header of every Lua script matches its body", () => {
    const scripts = tree.files
      .filter((path) => path.endsWith(".lua"))
      .map((path) => ({ path, text: tree.read(path) }));
    expect(beyond(wrongLuaHeaders(scripts), ALLOWED.luaHeaders)).toEqual([]);
  });
});

describe("shape", () => {
  test("no file is longer than 400 lines", () => {
    const lua = tree.files
      .filter((path) => path.endsWith(".lua"))
      .map((path) => ({ path, text: tree.read(path) }));
    expect(beyond(longFiles([...tree.sources, ...lua]), ALLOWED.fileLengths)).toEqual([]);
  });

  test("no function is longer than 70 lines", () => {
    expect(beyond(longFunctions(tree.sources), ALLOWED.functionLengths)).toEqual([]);
  });

  test("no module holds state that can change", () => {
    expect(beyond(mutableModuleState(tree.sources), ALLOWED.moduleState)).toEqual([]);
  });

  test("files and folders are named after what they hold", () => {
    expect(beyond(wrongNames(tree.files), ALLOWED.names)).toEqual([]);
  });
});

describe("exceptions", () => {
  test("every suppression carries a reason", () => {
    expect(beyond(unreasonedSuppressions(tree.sources), ALLOWED.suppressions)).toEqual([]);
  });

  test("every suppression is counted", () => {
    expect(suppressionCounts(tree.sources)).toEqual(COUNTED_SUPPRESSIONS);
  });

  test("no test is skipped, run alone or retried", () => {
    expect(beyond(dodgedTests(tree.sources), ALLOWED.dodgedTests)).toEqual([]);
  });
});
