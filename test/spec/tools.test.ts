import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { findModelTools, ModelToolsMissingError } from "./tools.ts";
import type { ToolSearch } from "./tools.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "junban-path-"));
  const made = folder;
  onTestFinished(async () => rm(made, { recursive: true }));
});

async function put(name: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, "");
  await chmod(path, 0o755);
  return path;
}

/** A machine on which only what lies in `folder` is installed. */
function machine(respond: (line: string) => void | Promise<void>, changes: Partial<ToolSearch> = {}) {
  const ran: string[] = [];
  const said: string[] = [];
  const search: ToolSearch = {
    env: { PATH: folder },
    uid: 0,
    platform: "linux",
    run: async (file, args) => {
      const line = [file, ...args].join(" ");
      ran.push(line);
      await respond(line);
    },
    say: (line) => said.push(line),
    ...changes,
  };
  return { search, ran, said };
}

function refuse(): never {
  throw new Error("E: Unable to locate package spin");
}

test("takes what is on PATH, and installs nothing", async () => {
  const [spin, compiler] = [await put("spin"), await put("gcc")];
  const { search, ran } = machine(refuse);
  expect(await findModelTools(search)).toEqual({ spin, compiler });
  expect(ran).toEqual([]);
});

test("takes the programs that somebody named", async () => {
  const { search } = machine(refuse, { env: { PATH: folder, JUNBAN_SPIN: "/a/spin", JUNBAN_CC: "/a/cc" } });
  expect(await findModelTools(search)).toEqual({ spin: "/a/spin", compiler: "/a/cc" });
});

test("installs what is missing where it may, with fresh package lists if need be, and says so first", async () => {
  await put("cc");
  const { search, ran, said } = machine(async (line) => {
    if (!line.includes("apt-get -q -y -o DPkg::Lock::Timeout=120 update")) refuse();
    await put("spin");
  });
  expect(await findModelTools(search)).toEqual({ spin: join(folder, "spin"), compiler: join(folder, "cc") });
  expect(ran).toHaveLength(2);
  expect(ran[1]).toMatch(/install --no-install-recommends spin gcc libc6-dev$/);
  expect(said[0]).toMatch(/^model: spin not found, installing: env DEBIAN_FRONTEND=noninteractive apt-get /);
});

test("says what to install where it may not, or where that does not work", async () => {
  const { search, ran } = machine(refuse, { uid: 1000 });
  await expect(findModelTools(search)).rejects.toMatchObject({
    code: "MODEL_TOOLS_MISSING",
    missing: ["spin", "a C compiler"],
    tried: [],
    message: expect.stringContaining("apt-get install spin gcc libc6-dev") as string,
  });
  expect(ran).toEqual([]);
  await put("spin");
  await expect(findModelTools(machine(refuse).search)).rejects.toBeInstanceOf(ModelToolsMissingError);
});
