import { createWriteStream } from "node:fs";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { EventEnvelope } from "@junban/orders";
import type { PublishedEvent } from "./telling/stream.ts";

/**
 * Writes events as NDJSON, one a line, in the given order: what `junban publish FILE` reads.
 *
 * @param destination A path (created or overwritten) or a stream (left open).
 * @returns How many lines were written.
 */
export async function writeStories(
  destination: string | Writable,
  stories: Iterable<PublishedEvent | EventEnvelope>,
): Promise<number> {
  let lines = 0;
  function* lineByLine(): Iterable<string> {
    for (const story of stories) {
      lines += 1;
      yield `${JSON.stringify(isPublished(story) ? story.event : story)}\n`;
    }
  }
  const source = Readable.from(lineByLine());
  if (typeof destination === "string") await pipeline(source, createWriteStream(destination));
  else await pipeline(source, destination, { end: false });
  return lines;
}

function isPublished(story: PublishedEvent | EventEnvelope): story is PublishedEvent {
  return !("specversion" in story);
}
