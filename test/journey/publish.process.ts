/**
 * A producer that publishes the stories of some orders and notes now and then how far it has come. Started again, it begins behind its
 * last note: what it published since then, and what it never had an answer for, it publishes again.
 */
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPublisher } from "@junban/event-queues";
import { again, tellStory } from "./story.ts";

const { REDIS_URL = "", STORY_FOLDER = "", STORY_LCIDS = "" } = process.env;
const NOTED_EACH = 8;

const publisher = createPublisher({ redis: REDIS_URL, timeoutMs: 2_000 });
const isOver = (): boolean => existsSync(join(STORY_FOLDER, "over"));
process.stdout.write("the producer runs\n");
await Promise.all(STORY_LCIDS.split(",").map(publishStory));
await publisher.close();
process.stdout.write("the producer is done\n");

async function publishStory(lcid: string): Promise<void> {
  let number = Number(await readFile(join(STORY_FOLDER, lcid), "utf8").catch(() => "0"));
  const length = await tellStory({
    lcid,
    from: number,
    isOver,
    tell: async (event) => {
      await again(async () => {
        await publisher.publish(event);
      });
      number += 1;
      if (number % NOTED_EACH === 0) await note({ lcid, number });
    },
  });
  await note({ lcid, number: length });
}

async function note({ lcid, number }: { lcid: string; number: number }): Promise<void> {
  // Whole or not at all, whenever this process is killed.
  const path = join(STORY_FOLDER, lcid);
  await writeFile(`${path}.new`, String(number));
  await rename(`${path}.new`, path);
}
