import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram, startProcess } from "@junban/sandbox";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { blocksIn, eventually, freshDatabase, freshRedis, PROGRAMS, scriptFolder } from "../support/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(ROOT, "apps/forwarder/src/main.ts");
const SOURCE = ["--import", "tsx", "--conditions", "@junban/source"];

const page = await readFile(join(ROOT, "docs/upstream-outbox.md"), "utf8");

const [example = ""] = blocksIn(page, { language: "ts" });
const [shell = ""] = blocksIn(page, { language: "sh" });

let psql: string;

// What the page runs is no part of the project, and a slim machine does not have it.
beforeAll(async () => {
  psql = await findProgram(PROGRAMS.psql);
}, 300_000);

test("what docs/upstream-outbox.md shows is published, in order, and the metrics are those it names", async () => {
  const corner = freshRedis();
  const { url: redisUrl, prefix } = corner;
  const databaseUrl = await freshDatabase();
  const env = {
    PATH: process.env["PATH"],
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    JUNBAN_PREFIX: prefix,
    JUNBAN_HTTP_PORT: "0",
  };
  const run = async (...args: string[]): Promise<void> => {
    const tree = await startProcess({
      command: process.execPath,
      args: [...SOURCE, ...args],
      env,
      cwd: ROOT,
    });
    const { code } = await tree.exited;
    expect({ code, said: tree.stderr() }).toMatchObject({ code: 0 });
  };
  await run(MAIN, "migrate");
  const script = join(await scriptFolder(), "example.mts");
  await writeFile(script, example);
  await run(script);
  const PATH = [dirname(psql), process.env["PATH"]].join(delimiter);
  const inShell = async (text: string): Promise<string> => {
    const tree = await startProcess({ command: "sh", args: ["-euc", text], env: { ...env, PATH } });
    await tree.exited;
    return tree.stderr();
  };
  // The same with a statement that fails at its end takes its event back.
  const failing = shell.replaceAll(/cap-1|evt-81/g, "$&-undone").replace(/^SQL$/m, "select 1 / 0;\nSQL");
  expect(await inShell(failing)).toMatch("division by zero");
  expect(await inShell(shell)).toBe("");

  const forwarder = await startProcess({
    command: process.execPath,
    args: [...SOURCE, MAIN],
    env,
    cwd: ROOT,
  });
  onTestFinished(async () => void (await forwarder.stop()));
  const line = await forwarder.waitForLine("the forwarder runs", { withinMs: 60_000 });
  const redis = corner.connect();
  await eventually(async () => expect(await redis.llen(`${prefix}:wait:{A-1001}`)).toBe(2));
  const keys = await redis.lrange(`${prefix}:wait:{A-1001}`, 0, -1);
  const bodies = (await redis.hmget(`${prefix}:body:{A-1001}`, ...keys)) as string[];
  expect(bodies.map((body) => /"id":\s*"(evt-\d+)"/.exec(body)?.[1])).toEqual(["evt-80", "evt-81"]);

  const { httpPort } = JSON.parse(line) as { httpPort: number };
  const metrics = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
  const exposed = [...metrics.matchAll(/^# TYPE (junban_forward_\w+) /gm)].map(([, name = ""]) => name);
  const named = [...page.matchAll(/`(junban_forward_\w+)`/g)].map(([, name = ""]) => name);
  expect([...new Set(named)].toSorted()).toEqual(exposed.toSorted());
  const overview = await readFile(join(ROOT, "docs/observability.md"), "utf8");
  const watched = [...overview.matchAll(/(junban_forward_\w+)/g)].map(([, name = ""]) => name);
  expect(watched.length).toBeGreaterThan(0);
  expect(watched.filter((name) => !exposed.includes(name))).toEqual([]);
}, 120_000);
