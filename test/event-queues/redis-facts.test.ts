import { openAddresses } from "@junban/event-queues";
import { startRedis, type RedisServer } from "@junban/sandbox";
import type { Redis } from "ioredis";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { connectTo, openReader, startConsumer } from "./setting.ts";

let server: RedisServer;

beforeAll(async () => {
  // An address for examples, which no machine has: the server may do without it, and listens on the loopback only.
  server = await startRedis({ maxMemory: "64mb", settings: { bind: "127.0.0.1 -192.0.2.1" } });
  return async () => server.stop();
});

const corner = (): { url: string; prefix: string } => ({ url: server.url, prefix: "junban" });

/** Sets a setting for the length of a test. */
async function set(redis: Redis, name: string, value: string): Promise<void> {
  const [, before = ""] = await redis.config("GET", name);
  await redis.config("SET", name, value);
  onTestFinished(async () => void (await redis.config("SET", name, before)));
}

test("a Redis that is set up as it should be says so", async () => {
  expect(await openReader(corner()).server()).toMatchObject({
    role: "master",
    limitBytes: 64 * 1_048_576,
    evictingPolicy: null,
    appendOnly: true,
    appendFsync: "everysec",
    isWriteFailing: false,
    openAt: [],
    replicas: [],
  });
});

test("each setting that costs data or lets strangers in shows", async () => {
  const redis = connectTo(corner());
  await set(redis, "maxmemory-policy", "allkeys-lru");
  await set(redis, "appendonly", "no");
  await set(redis, "appendfsync", "no");
  await set(redis, "protected-mode", "no");
  await set(redis, "requirepass", "");
  expect(await openReader(corner()).server()).toMatchObject({
    evictingPolicy: "allkeys-lru",
    appendOnly: false,
    appendFsync: "no",
    openAt: ["192.0.2.1"],
  });
});

test.each([
  ["127.0.0.1 -::1 localhost", "no", []],
  ["192.0.2.1", "yes", []],
  ["* -::*", "no", ["*", "::*"]],
  ["", "no", ["*"]],
  ["10.1.2.3 127.0.0.1", "no", ["10.1.2.3"]],
])("bound to “%s” with protected mode %s, without a password, it is open at %j", async (bind, mode, open) => {
  const settings: Readonly<Record<string, string>> = { bind, "protected-mode": mode };
  const told = {
    config: async (_get: string, name: string) => [name, settings[name]],
    acl: async () => ["flags", ["on", "allkeys", "nopass"], "passwords", []],
  };
  expect(await openAddresses(told as unknown as Redis)).toEqual(open);
});

test("what an access list hides is not told, and everything else is", async () => {
  const redis = connectTo(corner());
  await redis.acl("SETUSER", "guest", "on", ">guest", "~*", "&*", "+@all", "-config", "-acl", "-client|list");
  onTestFinished(async () => void (await redis.acl("DELUSER", "guest")));
  const url = new URL(server.url);
  url.username = "guest";
  url.password = "guest";
  const reader = openReader({ url: url.href, prefix: "junban" });
  expect(await reader.server()).toMatchObject({
    role: "master",
    evictingPolicy: null,
    appendFsync: null,
    openAt: [],
  });
  expect(await reader.workers()).toBeNull();
  expect((await reader.updates()).incoming.consumers).toBeNull();
});

test("a replica is told with its state and what it has not acknowledged", async () => {
  const replica = await startRedis({
    settings: { replicaof: `127.0.0.1 ${server.port}`, masterauth: server.password },
  });
  onTestFinished(async () => replica.stop());
  const reader = openReader(corner());
  await eventually(async () => (await reader.server()).replicas[0]?.state === "online", {
    withinMs: 30_000,
  });
  const [seen] = (await reader.server()).replicas;
  expect(seen?.address).toMatch(/^127\.0\.0\.1:\d+$/u);
  expect(seen?.behindBytes).toBeGreaterThanOrEqual(0);
  expect((await openReader({ url: replica.url, prefix: "junban" }).server()).role).toBe("slave");
});

test("the server's clock is read between two readings of this host's", async () => {
  const { clock } = await openReader(corner()).server();
  expect(clock.answeredAtMs).toBeGreaterThanOrEqual(clock.askedAtMs);
  expect(Math.abs(clock.serverMs - clock.askedAtMs)).toBeLessThan(60_000);
});

test("a connected worker is counted", async () => {
  startConsumer(corner());
  const reader = openReader(corner());
  await eventually(async () => (await reader.workers()) === 1);
});
