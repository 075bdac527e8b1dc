import { describe, expect, test } from "vitest";
import { scriptText } from "../../packages/handoff-lock/src/script-texts.ts";
import { freshRedis } from "../support/index.ts";
import { Listener } from "./listener.ts";
import { RawLane } from "./raw-lane.ts";
import type { Guard } from "./script-guards.ts";
import { LINE_GUARDS, REPAIR_GUARDS, TELLING_GUARDS, TOKEN_GUARDS } from "./script-guards.ts";

const fresh = freshRedis();
const { prefix } = fresh;
const redis = fresh.connect();
// One listener a test shares this connection.
const subscriber = fresh.connect().setMaxListeners(0);
let lanes = 0;

async function checkPromise({ script, promise }: Guard, text: string): Promise<void> {
  lanes += 1;
  const lane = new RawLane(redis, { prefix, lcid: `lane-${lanes}`, texts: { [script]: text } });
  const listener = await Listener.on(subscriber, `${prefix}:listener-${lanes}`);
  await promise(lane, listener);
}

describe.each([
  { group: "tokens (I1)", guards: TOKEN_GUARDS },
  { group: "the line (I2, I3, I5)", guards: LINE_GUARDS },
  { group: "telling and waking (I4)", guards: TELLING_GUARDS },
  { group: "repair", guards: REPAIR_GUARDS },
])("$group", ({ guards }) => {
  test.each(guards)("$script $says", async (guard) => {
    await checkPromise(guard, scriptText(guard.script));
  });

  test.each(guards)("goes red without it: $script $says", async (guard) => {
    const text = scriptText(guard.script);
    expect(text.split(guard.guard), "the guard stands in the script exactly once").toHaveLength(2);
    await expect(
      checkPromise(
        guard,
        text.replace(guard.guard, () => guard.without),
      ),
    ).rejects.toThrow(/expected/);
  });
});
