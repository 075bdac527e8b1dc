import { stat } from "node:fs/promises";
import { NotRunningError, type RedisServer, startRedis, stillRunning, treeMembers } from "@junban/sandbox";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";

async function withRedis<T>(server: RedisServer, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(server.url);
  redis.on("error", () => undefined);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

describe("a throwaway Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => server.stop());

  test("writes its file, evicts nothing, listens on the loopback only, and wants its password", async () => {
    const settings = await withRedis(server, async (redis) => {
      const names = ["appendonly", "appendfsync", "maxmemory-policy", "bind"];
      const found = await Promise.all(names.map(async (name) => redis.config("GET", name)));
      return Object.fromEntries(found as [string, string][]);
    });
    expect(settings).toEqual({
      appendonly: "yes",
      appendfsync: "everysec",
      "maxmemory-policy": "noeviction",
      bind: "127.0.0.1",
    });
    const stranger = new Redis({ port: server.port, lazyConnect: true, retryStrategy: null });
    stranger.on("error", () => undefined);
    onTestFinished(() => stranger.disconnect());
    await expect(stranger.ping()).rejects.toThrow("NOAUTH");
  });

  test("keeps its port and its data through a restart", async () => {
    await withRedis(server, async (redis) => redis.set("kept", "42"));
    const before = server.pid;
    await server.restart();
    expect(server.pid).not.toBe(before);
    expect(await withRedis(server, async (redis) => redis.get("kept"))).toBe("42");
  });

  test("comes back after SIGKILL with what reached its file", async () => {
    await withRedis(server, async (redis) => {
      await redis.set("written", "7");
      // everysec: the file holds it once the system was asked to write, which WAITAOF would say from 7.2 on.
      await eventually(async () => (await redis.info("persistence")).includes("aof_pending_bio_fsync:0"));
    });
    await server.kill();
    expect(() => server.pid).toThrow(NotRunningError);
    await server.restart();
    expect(await withRedis(server, async (redis) => redis.get("written"))).toBe("7");
  });

  test("answers nothing while it is frozen, and goes on afterwards", async () => {
    await withRedis(server, async (redis) => {
      await redis.ping();
      server.freeze();
      let answered = false;
      const answer = redis.ping().then(() => (answered = true));
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(answered).toBe(false);
      server.resume();
      await answer;
    });
  });
});

test("stop leaves nothing behind and may be called twice", async () => {
  const server = await startRedis({ appendOnly: false, maxMemory: "64mb" });
  const members = treeMembers(server.pid);
  server.freeze();
  await Promise.all([server.stop(), server.stop()]);
  expect(stillRunning(members)).toEqual([]);
  await expect(stat(server.folder)).rejects.toMatchObject({ code: "ENOENT" });
});
