/** Films a run of the demo and writes docs/demo.svg: `npm run demo:recording`. */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { pictureOf } from "./picture.ts";
import { record, withoutPauses } from "./record.ts";
import { replay } from "./replay.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SIZE = { columns: 100, rows: 37 };
const WITHIN_MS = 300_000;
/** Two looks a second: fast enough to see the bars grow, and half the picture of four. */
const EVERY_MS = 500;
const LONGEST_PAUSE_MS = 1_000;
const HOLD_MS = 12_000;

const { pieces, exitCode } = await record({
  ...SIZE,
  command: "npm run demo",
  cwd: ROOT,
  withinMs: WITHIN_MS,
});
if (exitCode === 0) {
  const frames = await replay(withoutPauses(pieces, LONGEST_PAUSE_MS), { ...SIZE, everyMs: EVERY_MS });
  const file = `${ROOT}docs/demo.svg`;
  const picture = pictureOf(frames, {
    ...SIZE,
    title: "npm run demo",
    description:
      "A run of the demo: two workers apply a stream of order events, the one that holds the busiest order is killed, its lane moves on, and at the end every order is audited.",
    holdMs: HOLD_MS,
  });
  await writeFile(file, picture);
  process.stderr.write(`wrote ${file}: ${frames.length} frames, ${Math.ceil(picture.length / 1024)} KiB\n`);
} else {
  process.stderr.write(`the demo ended with ${exitCode ?? "a signal"}, which is nothing to show\n`);
  process.exitCode = 1;
}
