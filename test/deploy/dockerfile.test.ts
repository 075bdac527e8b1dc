import { validate } from "dockerfile-utils";
import { describe, expect, test } from "vitest";
import { read } from "./checkout.ts";
import { stages } from "./image.ts";

describe("the Dockerfile", () => {
  const all = stages();
  const last = all.at(-1);

  test("is one that Docker reads, each instruction on its own line", () => {
    expect(validate(read("Dockerfile")).map(({ message }) => message)).toEqual([]);
    expect(read("Dockerfile")).not.toMatch(/\\$/m);
  });

  test("ends with a numbered user who is not root, and with the process itself as the first one", () => {
    expect(last?.steps.filter(({ keyword }) => keyword === "USER").map(({ text }) => text)).toEqual([
      "10001:10001",
    ]);
    expect(last?.steps.slice(-2)).toMatchObject([
      { keyword: "ENTRYPOINT", text: "[]" },
      { keyword: "CMD", text: expect.stringMatching(/^\["node", /) as string },
    ]);
  });

  test("pins its base by a full version", () => {
    expect(new Set(all.map(({ base }) => base.replace(/^\$/, "")))).toEqual(new Set(["{NODE_IMAGE}"]));
    expect(read("Dockerfile")).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-bookworm-slim$/m);
  });

  test("is given the source, and no secret, nothing installed and no history", () => {
    const copied = all.flatMap(({ steps }) =>
      steps.filter(({ keyword, flags }) => keyword === "COPY" && flags["from"] === undefined),
    );
    const sources = copied.flatMap(({ text }) => text.split(" ").slice(0, -1)).filter((path) => path !== ".");
    expect(sources.filter(isIgnored)).toEqual([]);
    expect(
      ["migrations/0001_orders.sql", "packages/orders/src/index.ts", "tsconfig.base.json"].filter(isIgnored),
    ).toEqual([]);
    const kept = [
      ".env",
      ".git/config",
      "apps/worker/.env.local",
      "deploy/compose/.env",
      "deploy/compose/gateway-tokens.json",
      "deploy/compose/console-users.json",
      "apps/worker/dist/main.js",
      "packages/orders/node_modules/a/b.js",
      "node_modules/pg/index.js",
      "apps/bench/package.json",
    ].filter((path) => !isIgnored(path));
    expect(kept).toEqual([]);
  });
});

/** By the rules of .dockerignore: the last line that fits decides, and a folder stands for what it holds. */
function isIgnored(path: string): boolean {
  const parents = path.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));
  return read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .reduce((ignored, line) => {
      const pattern = line
        .replace(/^!/, "")
        .replaceAll(".", "\\.")
        .replaceAll("**/", "(.+/)?")
        .replaceAll(/(?<![)+.])\*/g, "[^/]*");
      return parents.some((parent) => new RegExp(`^${pattern}$`).test(parent))
        ? !line.startsWith("!")
        : ignored;
    }, false);
}
