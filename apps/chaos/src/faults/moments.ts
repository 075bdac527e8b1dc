import { fileURLToPath } from "node:url";
import type { Random } from "@junban/order-stories";
import { type CrewMember, unlessAborted } from "@junban/trial";
import type { Stage } from "../stage.ts";

/** Diagnostics channels on which a process tells where it is. */
export type Moment =
  | "junban.batch.read"
  | "junban.batch.committed"
  | "junban.batch.handed-off"
  | "junban.event.deciding"
  | "junban.publish.standing"
  | "junban.forward.read"
  | "junban.forward.published";

export const AT_MOMENT = fileURLToPath(new URL("../preload/at-moment.js", import.meta.url));

const WITHIN_MS = 30_000;
const LONGEST_COUNTDOWN = 12;

export function momentEnv(options: {
  readonly moment: Moment;
  readonly sends: "SIGKILL" | "SIGSTOP";
  readonly countdown: number;
  readonly about?: string;
  /** Nothing is counted before the process gets this signal. */
  readonly armedBy?: NodeJS.Signals;
}): NodeJS.ProcessEnv {
  return {
    CHAOS_MOMENT: options.moment,
    CHAOS_SIGNAL: options.sends,
    CHAOS_COUNTDOWN: String(options.countdown),
    CHAOS_ABOUT: options.about ?? "",
    CHAOS_ARMED_BY: options.armedBy ?? "",
  };
}

/** Starts one more worker, which is hit by the signal at one of its first moments of this kind. Resolves when it is. */
export async function hitAtMoment(
  stage: Stage,
  options: {
    readonly moment: Moment;
    readonly sends: "SIGKILL" | "SIGSTOP";
    readonly random: Random;
    readonly signal: AbortSignal;
  },
): Promise<{ member: CrewMember; lcid: string; atMs: number }> {
  const { moment, sends, random, signal } = options;
  const member = await stage.crew.start({
    preload: [AT_MOMENT],
    env: momentEnv({ moment, sends, countdown: random.whole(1, LONGEST_COUNTDOWN) }),
    doomed: sends === "SIGKILL",
  });
  const line = await unlessAborted(
    stage.crew.waitForLine(member, '{"chaos":', { withinMs: WITHIN_MS }),
    signal,
  );
  const atMs = performance.now();
  if (sends === "SIGSTOP") stage.crew.freeze(member);
  const { message } = JSON.parse(line) as { message: { lcid: string } };
  return { member, lcid: message.lcid, atMs };
}
