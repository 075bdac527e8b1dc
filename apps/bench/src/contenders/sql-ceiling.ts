import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EventEnvelope } from "@junban/orders";
import { DONE_FILE, feedFile, feedFolder } from "../processes/feed.ts";
import type { Carrier, Contender, Ground } from "./contender.ts";
import { eventJobsOf } from "./event-job.ts";
import { processScript, STARTED_LINE } from "./process-script.ts";

export const sqlCeiling: Contender = {
  name: "sql-ceiling",
  version: "junban 0.1.0",
  what: "the same SQL driven straight from a loop, without a queue: the database's own ceiling",
  settings: [
    {
      name: "events",
      value: "512",
      why: "a transaction, at most 256 of one order: two of its batches, as the worker's",
      source: null,
    },
    { name: "lanes", value: "32", why: "orders a transaction, as JUNBAN_COMMIT_LANES", source: null },
    { name: "parallel", value: "3", why: "transactions at once, as JUNBAN_COMMIT_PARALLEL", source: null },
  ],
  promises: "publish order",
  applies: true,
  script: processScript("sql-ceiling"),
  env: {},
  startedLine: STARTED_LINE,
  open: openFeed,
};

/** Events go in as files that appear whole; a file of the process's own tells how many are done. */
async function openFeed(ground: Ground): Promise<Carrier> {
  const folder = feedFolder(ground);
  const doneFile = join(folder, DONE_FILE);
  await mkdir(folder);
  await writeFile(doneFile, "0");
  let files = 0;
  let published = 0;
  return {
    publish: async (events: readonly EventEnvelope[]) => {
      const lines = eventJobsOf(events).map((event) => JSON.stringify(event));
      const unfinished = join(folder, "unfinished");
      await writeFile(unfinished, lines.join("\n"));
      published += events.length;
      files += 1;
      await rename(unfinished, feedFile(folder, files));
    },
    left: async () => published - Number(await readFile(doneFile, "utf8")),
    close: async () => {
      await rm(folder, { recursive: true, force: true });
    },
  };
}
