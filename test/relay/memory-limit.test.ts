import { startProxy, startRedis } from "@junban/sandbox";
import type { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { connectTo, openUpdates, queued, told, versionsOf, type Place } from "./lab.ts";

async function setting(): Promise<{
  place: Place;
  proxy: Awaited<ReturnType<typeof startProxy>>;
  redis: Redis;
}> {
  const server = await startRedis({ appendOnly: false });
  onTestFinished(async () => server.stop());
  const proxy = await startProxy({ url: server.url });
  onTestFinished(async () => proxy.close());
  const place = { databaseUrl: "", redisUrl: server.url, prefix: "junban" };
  return { place, proxy, redis: connectTo(place) };
}

function newsOf(
  count: number,
  { characters }: { characters: number },
): { lcid: string; version: number; payload: object }[] {
  return versionsOf("O1", count).map((row) => ({ ...row, payload: { ...row, pad: "x".repeat(characters) } }));
}

async function inputBytes(redis: Redis): Promise<number> {
  return Number(/total_net_input_bytes:(\d+)/.exec(await redis.info("stats"))?.[1]);
}

test("no version is queued before an earlier one when memory comes free while they arrive", async () => {
  const { place, proxy, redis } = await setting();
  const updates = openUpdates({ ...place, redisUrl: proxy.url });
  await updates.add([{ lcid: "O0", version: 1, payload: { lcid: "O0", version: 1 } }]);
  await redis.config("SET", "maxmemory", "1");
  const before = await inputBytes(redis);
  let isFree = false;
  let isHeld = false;
  let arrived = 0;
  proxy.onData(async (direction, chunk) => {
    if (direction === "toServer" && arrived > 500_000 && !isFree) {
      isHeld = true;
      await eventually(() => isFree, { withinMs: 30_000 });
    }
    if (direction === "toServer") arrived += chunk.length;
    return undefined;
  });

  const adding = updates.add(newsOf(80, { characters: 16_000 })).catch((error: unknown) => error);
  await eventually(() => isHeld);
  await eventually(async () => (await inputBytes(redis)) >= before + arrived);
  await redis.config("SET", "maxmemory", "0");
  isFree = true;

  expect(await adding).toMatchObject({ code: "REDIS_OUT_OF_MEMORY" });
  expect(await queued(place)).toEqual(["O0 1"]);
});

test("nothing is added behind what memory was refused to, though it is free by then", async () => {
  const { place, proxy, redis } = await setting();
  const updates = openUpdates({ ...place, redisUrl: proxy.url });
  await updates.add([{ lcid: "O0", version: 1, payload: { lcid: "O0", version: 1 } }]);
  await redis.config("SET", "maxmemory", "1");
  proxy.onData(async (direction, chunk) => {
    if (direction === "toClient" && chunk.includes("OOM ")) await redis.config("SET", "maxmemory", "0");
    return undefined;
  });

  await expect(updates.add(newsOf(450, { characters: 10 }))).rejects.toMatchObject({
    code: "REDIS_OUT_OF_MEMORY",
  });

  expect(await queued(place)).toEqual(["O0 1"]);
  await updates.add(newsOf(450, { characters: 10 }));
  expect(await queued(place)).toEqual(["O0 1", ...told(versionsOf("O1", 450))]);
});

test("a server that forgot its scripts is sent them again", async () => {
  const { place, redis } = await setting();
  const updates = openUpdates(place);
  await updates.add(newsOf(1, { characters: 10 }));
  await redis.script("FLUSH");

  await updates.add(newsOf(250, { characters: 10 }));

  expect(await queued(place)).toEqual(told(versionsOf("O1", 250)));
});
