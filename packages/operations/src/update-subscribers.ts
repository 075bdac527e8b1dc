import { isSubscriberName, type QueueReader } from "@junban/event-queues";
import { SubscriberServedError } from "./errors.ts";

/** Whether there was such a subscription, and how many updates waited for it. */
export type Forgotten =
  | { readonly kind: "forgotten"; readonly waiting: number }
  | { readonly kind: "unknown" };

/**
 * Ends a name's subscription to order updates and deletes what waits for it; what its subscriber remembers of the versions it
 * handled stays with it. A name that is not subscribed is `unknown`, and what may be left of it is deleted all the same.
 * @throws {SubscriberServedError} while somebody serves the name, which would subscribe it again; nothing was changed.
 */
export async function forgetSubscriber(
  queues: QueueReader,
  { name }: { readonly name: string },
): Promise<Forgotten> {
  if (!isSubscriberName(name)) return { kind: "unknown" };
  const { names } = await queues.updates();
  const found = names.find((candidate) => candidate.name === name);
  const consumers = found?.consumers ?? 0;
  if (consumers > 0) throw new SubscriberServedError({ name, consumers });
  await queues.forgetUpdates(name);
  return found === undefined ? { kind: "unknown" } : { kind: "forgotten", waiting: found.waiting };
}
