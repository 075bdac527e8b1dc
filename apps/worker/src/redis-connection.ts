import { Redis } from "ioredis";

const LONGEST_RECONNECT_MS = 1_000;

/**
 * The one connection that lanes and queues of this process share, so that what both ask for in one turn of the event loop leaves
 * in few socket writes. It outlasts every outage: it reconnects for ever, and each caller bounds its own wait.
 *
 * @param silenceMs a connection that owes an answer for so long is dropped and made anew
 */
export function connectRedis({
  url,
  silenceMs,
}: {
  readonly url: string;
  readonly silenceMs: number;
}): Redis {
  return new Redis(url, {
    // Both are what BullMQ asks of a connection it is lent.
    maxRetriesPerRequest: null,
    replyMapping: "legacy",
    socketTimeout: silenceMs,
    retryStrategy: (attempt) => Math.min(attempt * 50, LONGEST_RECONNECT_MS),
    // After a failover the old connection may lead to a replica; only a new one finds the new primary. The refused command is
    // not sent again: whoever asked does so in its own time, while a server that stays read-only would be asked in a loop.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
}
