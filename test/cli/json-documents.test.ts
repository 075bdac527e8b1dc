import { readFileSync } from "node:fs";
import { consumeOrderUpdates } from "@junban/order-updates";
import { beforeAll, expect, test } from "vitest";
import { openShell, placed, type Shell } from "./junban.ts";

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");

/** What the page says is in the document of each command. */
const documented = page
  .split(/^## /mu)
  .slice(1)
  .flatMap((section) => {
    const path = /^`junban ([^`]+)`\n/u.exec(section)?.[1] ?? "";
    const keys = /^\| `--json` \|.*: ((?:`\w+`(?:, )?)+) \|$/mu.exec(section)?.[1];
    return keys === undefined ? [] : [{ path, keys: keys.replaceAll("`", "").split(", ").toSorted() }];
  });

/** What follows each command so that it comes to its document. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  "migrate status": [],
  publish: ["-"],
  "wait-idle": ["--timeout", "1s"],
  held: [],
  status: [],
  lanes: [],
  lane: ["A", "--free", "--yes"],
  updates: [],
  "updates forget": ["billing", "--yes"],
  audit: [],
  doctor: [],
  dlq: [],
  "dlq replay": ["/shop", "nothing"],
  "dlq drop": ["/shop", "nothing", "--reason", "gone"],
  parked: [],
  "parked retry": ["1"],
  "parked drop": ["1", "--reason", "gone", "--yes"],
  acts: [],
  purge: ["--older-than", "1d", "--yes"],
};

let shell: Shell;

beforeAll(async () => {
  shell = await openShell();
  const { redisUrl: redis, prefix } = shell;
  const consumer = await consumeOrderUpdates({ redis, prefix, name: "billing" }, async () => undefined);
  await consumer.close({ deadlineMs: 2_000 });
});

test("docs/cli.md tells of each document what is in it", () => {
  expect(documented.map(({ path }) => path)).toEqual(Object.keys(ARGUMENTS));
});

test.each(documented)(
  "what junban $path prints for scripts is what the page tells",
  async ({ path, keys }) => {
    const args = [...path.split(" "), ...(ARGUMENTS[path] ?? []), "--json"];
    const document = (await shell.junban(args, { input: placed("A") })).json();
    expect(Object.keys(document as object).toSorted()).toEqual(keys);
  },
);
