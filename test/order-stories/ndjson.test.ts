import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { tellStories, trafficOf, writeStories } from "@junban/order-stories";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

describe("writing stories", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "junban-stories-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("puts one event on each line of a file, in publish order", async () => {
    const stream = tellStories({ seed: 4, orders: 30 });
    const path = join(folder, "stories.ndjson");
    expect(await writeStories(path, stream)).toBe(stream.length);
    const lines = (await readFile(path, "utf8")).split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(stream.map(({ event }) => event));
  });

  test("waits for a slow stream and leaves it open", async () => {
    const events = trafficOf({ seed: 4, orders: 5, events: 200, skew: "uniform" });
    const chunks: string[] = [];
    const slow = new Writable({
      highWaterMark: 512,
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk.toString());
        setImmediate(done);
      },
    });
    expect(await writeStories(slow, events)).toBe(200);
    expect(slow.writableEnded).toBe(false);
    await new Promise<void>((resolve) => {
      slow.end(resolve);
    });
    expect(chunks.join("")).toBe(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  });

  test("fails where it cannot write", async () => {
    const stream = tellStories({ seed: 4, orders: 200 });
    await expect(writeStories(join(folder, "none", "stories.ndjson"), stream)).rejects.toThrow("ENOENT");
  });
});
