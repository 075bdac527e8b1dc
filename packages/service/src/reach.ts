import { setTimeout as sleep } from "node:timers/promises";
import { UnreachableError } from "./errors.ts";
import { redactedText } from "./redaction.ts";
import { withoutPassword } from "./secrets.ts";

export interface ReachOptions {
  service: "Redis" | "Postgres";
  /** Said and thrown without its password. */
  address: string;
  /** Default 30000. */
  limitMs?: number;
  /** One attempt. What it throws counts as "not yet"; an attempt that hangs is given up after five seconds. */
  probe(): Promise<void>;
  /** Whether a failure says that the service is there and will not do: it is thrown at once. Default: none does. */
  isFinal?(error: Error): boolean;
  /** Hears one line a second while the service is away. */
  say(line: string): void;
  /** Ends the waiting at once with the signal's reason: somebody asked the process to stop. */
  signal?: AbortSignal;
}

const EVERY_MS = 1_000;
const PROBE_LIMIT_MS = 5_000;

/**
 * Waits until the service answers. Throws UnreachableError after `limitMs`, with the last failure as its cause, and what is final
 * as it came.
 */
export async function reachWithin(options: ReachOptions): Promise<void> {
  const { service, limitMs = 30_000, signal } = options;
  const address = withoutPassword(options.address);
  const startMs = performance.now();
  const deadlineMs = startMs + limitMs;
  let earlier: Error | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const attemptMs = performance.now();
    const failure = await attempt(options, Math.min(PROBE_LIMIT_MS, Math.max(1, deadlineMs - attemptMs)));
    if (failure === undefined) return;
    signal?.throwIfAborted();
    if (options.isFinal?.(failure) === true) throw failure;
    const nowMs = performance.now();
    if (nowMs >= deadlineMs) {
      // The last attempt had no time to hear an answer, so the one before knows better what is the matter.
      throw new UnreachableError({ service, address, limitMs }, { cause: earlier ?? failure });
    }
    earlier = failure;
    const waitedSeconds = Math.round((nowMs - startMs) / 1_000);
    options.say(
      `waiting for ${service} at ${address} (${waitedSeconds} of ${Math.round(limitMs / 1_000)} s): ${redactedText(failure.message)}`,
    );
    // The last attempt happens at the deadline itself, not up to a second before it.
    const pauseMs = Math.min(Math.max(0, attemptMs + EVERY_MS - nowMs), deadlineMs - nowMs);
    await sleep(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() =>
      signal?.throwIfAborted(),
    );
  }
}

async function attempt(options: ReachOptions, limitMs: number): Promise<Error | undefined> {
  const bound = new AbortController();
  const ends = [bound.signal, ...(options.signal === undefined ? [] : [options.signal])];
  // The timer loses quietly when the probe answers, and the probe may go on in the background when the timer wins.
  const timeout = sleep(limitMs, new Error(`no answer within ${Math.round(limitMs)} ms`), {
    signal: AbortSignal.any(ends),
  }).catch(() => new Error("the waiting was cancelled"));
  const probing = options.probe().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  const result = await Promise.race([probing, timeout]);
  bound.abort();
  return result;
}
