import { createOrderStore } from "@junban/order-store";
import { startRedis } from "@junban/sandbox";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { openShell, type Shell } from "./junban.ts";

let shell: Shell;

beforeAll(async () => {
  shell = await openShell();
});

test("doctor ends with 1 when something is wrong, and tells each finding with its meaning and its fix", async () => {
  // The run's own Redis keeps no file, which is wrong anywhere else.
  const run = await shell.junban(["doctor"]);
  expect(run.code).toBe(1);
  expect(run.out).toMatch(/^redis +\S+, master, /mu);
  expect(run.out).toMatch(
    /^WRONG Redis writes no append-only file \[REDIS_WITHOUT_FILE\]\n {2}means: .*\n {2}fix: CONFIG SET/mu,
  );
  expect(run.out).toMatch(/things? (?:is|are) wrong, \d+ warnings?\n$/u);
  expect((await shell.junban(["doctor", "--json"])).json()).toMatchObject({
    isWhole: true,
    findings: expect.arrayContaining([
      expect.objectContaining({ code: "PREFIX_UNUSED", severity: "warning" }),
    ]) as unknown,
    facts: { redis: { kind: "read" }, postgres: { kind: "read" }, fleet: { kind: "read" } },
  });
});

test("a service that cannot be reached ends with 3, is told without its password, and hides nothing of the other", async () => {
  const away = { DATABASE_URL: "postgres://u:sesame@127.0.0.1:1/x" };
  const run = await shell.junban(["doctor"], { env: away });
  expect(run.code).toBe(3);
  expect(run.out).toContain("[POSTGRES_AWAY]");
  expect(run.out).toContain("[REDIS_WITHOUT_FILE]");
  expect(run.out + run.err).not.toContain("sesame");
});

test("warnings alone end with 0, and a server that becomes unfit is found", async () => {
  const redis = await startRedis({ maxMemory: "64mb" });
  onTestFinished(() => redis.stop());
  const store = createOrderStore({ databaseUrl: shell.databaseUrl, worker: "test" });
  onTestFinished(() => store.close());
  const { fsync, fullPageWrites, synchronousCommit } = await store.health();
  const isDurable = [fsync, fullPageWrites, synchronousCommit].every((setting) => setting === "on");
  const run = await shell.junban(["doctor", "--json"], { env: { REDIS_URL: redis.url } });
  const { findings } = run.json() as { findings: readonly { about: string; severity: string }[] };
  expect(findings.filter(({ about, severity }) => about === "redis" && severity === "wrong")).toEqual([]);
  // The run's own Postgres may be set up for speed.
  expect(run.code).toBe(isDurable ? 0 : 1);
});
