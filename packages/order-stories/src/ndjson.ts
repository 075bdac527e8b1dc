import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
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
  if (typeof destination !== "string") return writeLines(destination, stories);
  const file = createWriteStream(destination);
  const closed = finished(file);
  // Awaited below; until then a failure must not count as unhandled.
  closed.catch(() => undefined);
  try {
    const lines = await writeLines(file, stories);
    file.end();
    await closed;
    return lines;
  } finally {
    file.destroy();
  }
}

async function writeLines(
  stream: Writable,
  stories: Iterable<PublishedEvent | EventEnvelope>,
): Promise<number> {
  let lines = 0;
  for (const story of stories) {
    const room = stream.write(`${JSON.stringify(isPublished(story) ? story.event : story)}\n`);
    lines += 1;
    // `once` also rejects when the stream fails, so a full disk cannot leave this waiting for ever.
    if (!room) await once(stream, "drain");
  }
  return lines;
}

function isPublished(story: PublishedEvent | EventEnvelope): story is PublishedEvent {
  return "note" in story && "event" in story && !("specversion" in story);
}
