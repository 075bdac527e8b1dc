import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { enqueueEvent } from "@junban/upstream-outbox";
import pg from "pg";
import { expect, onTestFinished } from "vitest";
import type { KeptAlive } from "./kept-alive.ts";
import { again, storyOf, tellStory } from "./story.ts";
import type { Event } from "./story.ts";

const ORDERS_A_DOOR = 2;

/** The names of a door's orders. */
export function ordersOf(door: string): string[] {
  return Array.from(
    { length: ORDERS_A_DOOR },
    (_, order) => `${door}-${order}-${randomBytes(3).toString("hex")}`,
  );
}

/** Each event in a transaction of its own, behind one that takes back what it wrote. A commit without an answer is made again. */
export async function commitStory(
  upstreamUrl: string,
  { lcid, isOver }: { lcid: string; isOver: () => boolean },
): Promise<Event[]> {
  const pool = poolOf(upstreamUrl);
  const length = await tellStory({
    lcid,
    isOver,
    tell: async (event) => {
      await again(async () => inTransaction(pool, { ...event, id: `${event.id}-undone` }, "rollback"));
      await again(async () => inTransaction(pool, event, "commit"));
    },
  });
  return storyOf(lcid, length);
}

async function inTransaction(pool: pg.Pool, event: Event, end: "commit" | "rollback"): Promise<void> {
  const client = await pool.connect();
  // A server that dies ends the connection; the statement that is under way, or the next one, fails and says so.
  client.on("error", ignore);
  let isWhole = false;
  try {
    await client.query("begin");
    await enqueueEvent(client, event);
    await client.query(end);
    isWhole = true;
  } finally {
    client.off("error", ignore);
    client.release(!isWhole);
  }
}

/** Posts each event again until it is answered 202, as a client does that lost an answer. */
export async function postStory(
  gateway: KeptAlive,
  { lcid, token, isOver }: { lcid: string; token: string; isOver: () => boolean },
): Promise<Event[]> {
  const length = await tellStory({
    lcid,
    isOver,
    tell: async (event) =>
      again(async () => {
        const { port } = JSON.parse(gateway.line) as { port: number };
        const answer = await fetch(`http://127.0.0.1:${port}/events`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/cloudevents+json" },
          body: JSON.stringify(event),
          signal: AbortSignal.timeout(10_000),
        });
        expect(answer.status).toBe(202);
      }),
  });
  return storyOf(lcid, length);
}

/** What a producer in a process of its own published, by its notes, once it was told that its stories are over. */
export async function publishedStories(
  producer: KeptAlive,
  { folder, lcids }: { folder: string; lcids: readonly string[] },
): Promise<Event[][]> {
  await writeFile(join(folder, "over"), "");
  await producer.waitForLine("the producer is done");
  return Promise.all(
    lcids.map(async (lcid) => storyOf(lcid, Number(await readFile(join(folder, lcid), "utf8")))),
  );
}

/** A few connections that end with the test. */
export function poolOf(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4, connectionTimeoutMillis: 5_000 });
  pool.on("error", ignore);
  onTestFinished(async () => pool.end());
  return pool;
}

function ignore(): void {
  // Whoever uses the connection learns it.
}
