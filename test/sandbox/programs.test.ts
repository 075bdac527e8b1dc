import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, ProgramMissingError, type ProgramSearch } from "@junban/sandbox";
import { beforeEach, expect, onTestFinished, test } from "vitest";

const TOOL = { name: "junban-tool", debian: "junban-tools", brew: "junban-brewed" };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "junban-path-"));
  const made = folder;
  onTestFinished(async () => rm(made, { recursive: true }));
});

async function putProgram(): Promise<string> {
  const path = join(folder, TOOL.name);
  await writeFile(path, "");
  await chmod(path, 0o755);
  return path;
}

/** A machine on which only what lies in `folder` is installed. */
function machine(run: (line: string) => Promise<string>, changes: Partial<ProgramSearch> = {}) {
  const ran: string[] = [];
  const search: ProgramSearch = {
    env: { PATH: folder },
    uid: 0,
    platform: "linux",
    run: async (file, args) => {
      const line = [file, ...args].join(" ");
      ran.push(line);
      return run(line);
    },
    say: () => undefined,
    ...changes,
  };
  return { search, ran };
}

const refuse = async (): Promise<string> => {
  throw new Error("not found");
};

test("a program on PATH is taken, and nothing is installed", async () => {
  const path = await putProgram();
  const { search, ran } = machine(refuse);
  expect(await findProgram(TOOL, search)).toBe(path);
  expect(ran).toEqual([]);
});

test("a program that is not there is installed from its system package", async () => {
  const { search, ran } = machine(async () => {
    await putProgram();
    return "";
  });
  expect(await findProgram(TOOL, search)).toBe(join(folder, TOOL.name));
  expect(ran).toEqual([expect.stringMatching(/apt-get .*install .*junban-tools$/)]);
});

test.each([
  { platform: "linux", uid: 1_000, asked: [/^sudo -n .*install/, /update && sudo -n .*install/] },
  { platform: "darwin", uid: 501, asked: [/^brew install junban-brewed$/] },
  { platform: "freebsd", uid: 0, asked: [] },
] as const)("where it cannot be installed on $platform it is refused, and told what to do", async (place) => {
  const { search, ran } = machine(refuse, { platform: place.platform, uid: place.uid });
  const failure = await findProgram(TOOL, search).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ProgramMissingError);
  expect(failure).toMatchObject({ code: "PROGRAM_MISSING", program: TOOL.name, tried: ran });
  expect((failure as Error).message).toContain("apt-get install junban-tools");
  expect(ran).toHaveLength(place.asked.length);
  for (const [index, line] of place.asked.entries()) expect(ran[index]).toMatch(line);
});
