import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisMissingError, type RedisSearch, findRedisBinary, startRedis } from "@junban/sandbox";
import { beforeEach, expect, onTestFinished, test } from "vitest";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "junban-path-"));
  const made = folder;
  onTestFinished(async () => rm(made, { recursive: true }));
});

/** A machine on which only what lies in `folder` is installed; commands are answered by `respond`. */
function machine(respond: (line: string) => string | Promise<string>, changes: Partial<RedisSearch> = {}) {
  const ran: string[] = [];
  const said: string[] = [];
  const search: RedisSearch = {
    env: { PATH: folder },
    uid: 0,
    platform: "linux",
    checkerFolders: [],
    run: async (file, args, options) => {
      const line = [options?.argv0 ?? file, ...args].join(" ");
      ran.push(line);
      return respond(line);
    },
    say: (line) => said.push(line),
    ...changes,
  };
  return { search, ran, said };
}

async function putFile(name: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, "");
  await chmod(path, 0o755);
  return path;
}

function refuse(): never {
  throw new Error("not found");
}

test("takes the server on PATH, whichever of the two it is", async () => {
  const file = await putFile("valkey-server");
  const { search } = machine(() => "Valkey server v=8.0.1 sha=0");
  expect(await findRedisBinary(search)).toEqual({ file });
});

test("starts Debian's RDB checker under the server's name where only the client tools are installed", async () => {
  const file = await putFile("redis-check-rdb");
  const { search, ran } = machine(() => "Redis server v=7.0.15 sha=0");
  expect(await findRedisBinary(search)).toEqual({ file, argv0: "redis-server" });
  expect(ran).toEqual(["redis-server --version"]);
});

test("passes over a file of that name that is no server", async () => {
  await putFile("redis-server");
  const file = await putFile("redis-check-rdb");
  const { search } = machine((line) =>
    line.startsWith(folder) ? "something else" : "Redis server v=7.0.15",
  );
  expect(await findRedisBinary(search)).toEqual({ file, argv0: "redis-server" });
});

test("installs the system package where nothing is installed, and says so", async () => {
  const { search, ran, said } = machine(async (line) => {
    if (line.includes("install")) {
      await putFile("redis-check-rdb");
      return "";
    }
    return "Redis server v=7.0.15";
  });
  expect(await findRedisBinary(search)).toMatchObject({ argv0: "redis-server" });
  expect(ran[0]).toContain("apt-get");
  expect(ran[0]).not.toContain("sudo");
  expect(said.join("\n")).toContain("installing");
});

test("asks sudo without a prompt when we are not root, and refreshes the package lists when they are missing", async () => {
  const { search, ran } = machine(refuse, { uid: 1_000 });
  await expect(findRedisBinary(search)).rejects.toBeInstanceOf(RedisMissingError);
  expect(ran).toEqual([
    expect.stringMatching(/^sudo -n .*install/),
    expect.stringMatching(/update && sudo -n .*install/),
  ]);
});

test("uses brew on macOS", async () => {
  const { search, ran } = machine(refuse, { platform: "darwin" });
  await expect(findRedisBinary(search)).rejects.toBeInstanceOf(RedisMissingError);
  expect(ran).toEqual(["brew install redis"]);
});

test("where nothing helps, the refusal is typed and tells in three lines what to do", async () => {
  const { search } = machine(refuse, { platform: "freebsd" });
  const failure = await findRedisBinary(search).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RedisMissingError);
  const { message, code } = failure as RedisMissingError;
  expect(code).toBe("REDIS_MISSING");
  expect(message.split("\n")).toHaveLength(3);
  expect(message).toContain("JUNBAN_REDIS_SERVER");
  expect(message).toContain("JUNBAN_TEST_REDIS_URL");
});

test("a JUNBAN_REDIS_SERVER that is no server is refused by name; nothing else is taken or installed", async () => {
  await putFile("redis-server");
  const { search, ran } = machine(refuse, { env: { PATH: folder, JUNBAN_REDIS_SERVER: "/nowhere/redis" } });
  await expect(findRedisBinary(search)).rejects.toThrow("/nowhere/redis");
  expect(ran).toEqual(["/nowhere/redis --version"]);
});

test("on this machine a server is found and starts", async () => {
  const server = await startRedis({ appendOnly: false });
  onTestFinished(async () => server.stop());
  expect(server.pid).toBeGreaterThan(0);
});
