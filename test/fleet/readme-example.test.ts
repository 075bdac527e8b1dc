import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess, startSandbox } from "@junban/sandbox";
import type { Sandbox } from "@junban/sandbox";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { blocksIn, scriptFolder } from "../support/index.ts";

/**
 * What README.md shows is what happens. Everything runs as the page says it, compiled, on servers of its own: the example needs
 * the default prefix.
 */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LIMIT_MS = 180_000;

let sandbox: Sandbox;
let readme: string;
let env: Readonly<Record<string, string | undefined>>;

beforeAll(async () => {
  readme = await readFile(join(ROOT, "README.md"), "utf8");
  sandbox = await startSandbox();
  env = {
    PATH: process.env["PATH"],
    DATABASE_URL: await sandbox.postgres.createDatabase(),
    REDIS_URL: sandbox.redis.url,
    JUNBAN_HTTP_PORT: "0",
  };
}, 120_000);

afterAll(async () => {
  await sandbox.stop();
});

/** Runs a program to its end, which has to be a good one; answers what it printed. */
async function run(args: readonly string[], cwd = ROOT): Promise<string> {
  const tree = await startProcess({ command: process.execPath, args, env, cwd });
  const { code } = await tree.exited;
  expect({ code, said: `${tree.stdout()}${tree.stderr()}` }).toMatchObject({ code: 0 });
  return tree.stdout();
}

const junban = (...args: readonly string[]): Promise<string> => run(["apps/cli/bin/junban.js", ...args]);

/** Moments differ from run to run, but not in their length. */
function timeless(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "####-##-##T##:##:##.###Z").trim();
}

test(
  "the example of README.md agrees with the types",
  async () => {
    const folder = await scriptFolder();
    const [example = ""] = blocksIn(readme, { language: "ts" });
    await writeFile(join(folder, "first.ts"), example);
    const compilerOptions = {
      target: "es2023",
      module: "nodenext",
      strict: true,
      noEmit: true,
      types: ["node"],
      customConditions: ["@junban/source"],
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    };
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["first.ts"] }));
    expect(await run([join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder])).toBe("");
  },
  LIMIT_MS,
);

test(
  "migrate, a worker, the example and the command do what README.md shows",
  async () => {
    await junban("migrate");
    const worker = await startProcess({
      command: process.execPath,
      args: ["--max-semi-space-size=64", "apps/worker/dist/main.js"],
      env,
      cwd: ROOT,
    });
    onTestFinished(async () => {
      await worker.stop({ signal: "SIGKILL" });
    });
    await worker.waitForLine("the worker serves", { withinMs: 60_000 });

    const folder = await scriptFolder();
    const [example = ""] = blocksIn(readme, { language: "ts" });
    await writeFile(join(folder, "first.mjs"), example);
    await run([join(folder, "first.mjs")]);
    await junban("wait-idle", "--timeout", "60s");
    const [shown = ""] = blocksIn(readme, { language: "text" });
    expect(timeless(await junban("order", "A-1001", "--history"))).toBe(timeless(shown));
    await junban("audit");

    worker.signal("SIGTERM");
    expect(await worker.exited).toEqual({ code: 0, signal: null });
  },
  LIMIT_MS,
);
