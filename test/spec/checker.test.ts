import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { ModelChecker } from "./checker.ts";
import type { CheckerOptions } from "./checker.ts";
import { readPanReport } from "./pan-report.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
const QUESTION = { name: "anything", define: { FAULTS: 1 }, progress: false, shortest: false, long: false };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "junban-fake-"));
  const made = folder;
  onTestFinished(async () => rm(made, { recursive: true, force: true }));
});

async function script(name: string, lines: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${lines}\n`);
  await chmod(path, 0o755);
  return path;
}

/** Programs that do not look at the model: spin answers with a trail, the compiler makes a search that runs `search`. */
async function tools(search: string, trail = ""): Promise<CheckerOptions["tools"]> {
  const body = await script("search", search);
  return {
    spin: await script("spin", `echo '${trail}'`),
    compiler: await script("cc", `cp ${body} pan`),
  };
}

async function checker(search: string, more: Partial<CheckerOptions> & { trail?: string } = {}) {
  const modelFolder = join(folder, "model");
  await mkdir(modelFolder, { recursive: true });
  await writeFile(join(modelFolder, "lane.pml"), "");
  const { trail, ...options } = more;
  const { signal } = new AbortController();
  return new ModelChecker({ tools: await tools(search, trail), modelFolder, signal, ...options });
}

const FINISHED = "State-vector 116 byte, depth reached 86, errors: 0\n     1143 states, stored\n";

describe("a search", () => {
  test("that looked at every state and met nothing shows that all holds", async () => {
    const answer = await (await checker(`printf '${FINISHED}'`)).ask(QUESTION);
    expect(answer).toEqual({ kind: "holds", states: 1143, depth: 86 });
  });

  test("that was cut short by its time, its memory or its depth shows nothing", async () => {
    const slow = await checker("sleep 1000", { timeoutMs: 200 });
    expect(await slow.ask(QUESTION)).toEqual({
      kind: "open",
      why: expect.stringContaining("are over") as string,
    });
    for (const limit of [
      "pan: reached -DMEMLIM bound",
      "error: max search depth too small",
      "Warning: Search not completed",
    ]) {
      const answer = await (await checker(`echo '${limit}'; printf '${FINISHED}'`)).ask(QUESTION);
      expect(answer.kind, limit).toBe("open");
    }
  });

  test("that met a broken promise tells its name and the way there", async () => {
    const found =
      "pan:1: assertion violated 0 (at depth 33)\\nState-vector 1 byte, depth reached 9, errors: 1\\n7 states, stored\\n";
    const trail =
      "publisher: queue of 1, in_line\n  worker 1: enter for 1, fine, turn with 1 0\nbroken: own_token\nspin: trail ends";
    const answer = await (await checker(`printf '${found}'`, { trail })).ask(QUESTION);
    expect(answer).toEqual({
      kind: "broken",
      promise: "own_token",
      steps: ["publisher: queue of 1, in_line", "worker 1: enter for 1, turn with 1", "broken: own_token"],
      states: 7,
    });
  });

  test("that met a mistake of the model itself is no counterexample", async () => {
    const found =
      "pan:1: assertion violated - invalid array index (at depth 3)\\nState-vector 1 byte, depth reached 9, errors: 1\\n7 states, stored\\n";
    const answer = await (await checker(`printf '${found}'`)).ask(QUESTION);
    expect(answer).toEqual({ kind: "open", why: expect.stringContaining("the model itself") as string });
  });

  test("leaves no folder behind", async () => {
    const before = await readdir(tmpdir());
    await (await checker(`printf '${FINISHED}'`)).ask(QUESTION);
    const after = (await readdir(tmpdir())).filter((name) => name.startsWith("junban-model-"));
    expect(after.filter((name) => !before.includes(name))).toEqual([]);
  });

  test("says nothing that is taken for a report when it says something else", () => {
    expect(readPanReport("Segmentation fault")).toBeNull();
  });
});

describe("npm run model", () => {
  async function run(args: readonly string[], search: string, env: NodeJS.ProcessEnv = {}) {
    const { spin, compiler } = await tools(search);
    const tree = await startProcess({
      command: process.execPath,
      args: ["--conditions", "@junban/source", "--import", "tsx", MAIN, ...args],
      env: { ...process.env, JUNBAN_SPIN: spin, JUNBAN_CC: compiler, ...env },
    });
    onTestFinished(async () => void (await tree.stop()));
    return tree;
  }

  test("ends with 2 and the usage when it is asked for what there is not", async () => {
    for (const args of [["--fast"], ["--only", "no such guard"], ["--short", "--deep"], ["--memory", "1"]]) {
      const tree = await run(args, "");
      expect((await tree.exited).code, args.join(" ")).toBe(2);
      expect(tree.stderr()).toContain("npm run model -- [options]");
    }
  });

  test("ends with 3 and says what to install when there is no spin and none to be had", async () => {
    const tree = await run(["--short"], "", { JUNBAN_SPIN: "", PATH: "" });
    expect((await tree.exited).code).toBe(3);
    expect(tree.stderr()).toContain("apt-get install spin gcc libc6-dev");
  });

  test("ends with 1 when nothing breaks for want of a guard, and names it", async () => {
    const tree = await run(["--only", "INBOX", "--json"], `printf '${FINISHED}'`);
    expect((await tree.exited).code).toBe(1);
    expect(tree.stderr()).toContain("WRONG   INBOX");
    expect(JSON.parse(tree.stdout())).toMatchObject({
      mutations: 1,
      wrong: 1,
      results: [{ name: "INBOX", wrong: "nothing breaks: at_most_once should", answer: { kind: "holds" } }],
    });
  });

  test("takes a search under way with it when it is interrupted", async () => {
    const note = join(folder, "pid");
    const tree = await run(
      ["--only", "calm"],
      `echo $$ > ${note}.new; mv ${note}.new ${note}; exec sleep 1000`,
    );
    const pid = Number(await eventually(async () => readFile(note, "utf8"), { withinMs: 60_000 }));
    expect(isRunning(pid)).toBe(true);
    tree.signal("SIGINT");
    expect((await tree.exited).code).toBe(130);
    await eventually(() => !isRunning(pid));
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
