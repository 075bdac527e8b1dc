import { QueueUnavailableError, type UpdatesPublisher } from "@junban/event-queues";
import type { News } from "@junban/order-store";
import { unsoundness } from "./unsound-news.ts";

/** News that only they themselves stand in the way of. */
export interface Refused {
  readonly news: News;
  readonly reason: string;
}

/** What became of some news. What is named nowhere was not tried, or may come again. */
export interface PassedOn {
  /** They are in the queue. */
  readonly passed: readonly News[];
  readonly refused: readonly Refused[];
  /** Why the rest could not be passed on; null when all could, or were refused. */
  readonly trouble: QueueUnavailableError | null;
}

/** Trying each by itself takes no longer: what was not tried comes again, and the lead is lost to whoever is silent for ten seconds. */
const ONE_BY_ONE_MS = 3_000;

/**
 * Puts news into the queue, oldest first. Where the queue answers a whole batch with a refusal, each is tried by itself: those that
 * are refused while others are taken stand in nobody's way but their own. Where nothing is taken the trouble is the queue's.
 */
export async function passOn(
  news: readonly News[],
  updates: Pick<UpdatesPublisher, "add">,
  { signal }: { readonly signal: AbortSignal },
): Promise<PassedOn> {
  const refused: Refused[] = [];
  const sound: News[] = [];
  for (const one of news) {
    const reason = unsoundness(one);
    if (reason === null) sound.push(one);
    else refused.push({ news: one, reason });
  }
  const trouble = await refusalOf(sound, updates);
  if (trouble === null) return { passed: sound, refused, trouble };
  if (trouble.code !== "REDIS_REFUSED") return { passed: [], refused, trouble };
  const each = await oneByOne(sound, updates, signal);
  return { ...each, refused: [...refused, ...each.refused] };
}

async function oneByOne(
  news: readonly News[],
  updates: Pick<UpdatesPublisher, "add">,
  signal: AbortSignal,
): Promise<PassedOn> {
  const untilMs = performance.now() + ONE_BY_ONE_MS;
  const passed: News[] = [];
  const refused: Refused[] = [];
  const waiting = new Set<string>();
  let trouble: QueueUnavailableError | null = null;
  for (const one of news) {
    if (signal.aborted || performance.now() >= untilMs) break;
    // A later version must not overtake one that may still be passed on.
    if (waiting.has(one.lcid)) continue;
    const refusal = await refusalOf([one], updates);
    if (refusal === null) {
      passed.push(one);
      continue;
    }
    trouble = refusal;
    if (refusal.code !== "REDIS_REFUSED") break;
    refused.push({ news: one, reason: refusal.message });
    waiting.add(one.lcid);
  }
  if (passed.length === 0) return { passed, refused: [], trouble };
  return { passed, refused, trouble: outageIn(trouble) };
}

function outageIn(trouble: QueueUnavailableError | null): QueueUnavailableError | null {
  return trouble?.code === "REDIS_REFUSED" ? null : trouble;
}

/** Null when all were taken. */
async function refusalOf(
  news: readonly News[],
  updates: Pick<UpdatesPublisher, "add">,
): Promise<QueueUnavailableError | null> {
  try {
    await updates.add(news);
    return null;
  } catch (error) {
    if (error instanceof QueueUnavailableError) return error;
    throw error;
  }
}
