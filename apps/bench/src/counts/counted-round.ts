import type { EventEnvelope } from "@junban/orders";
import { startProxy } from "@junban/sandbox";
import type { Contender } from "../contenders/contender.ts";
import { type LiveOptions, startLive } from "../rounds/live.ts";
import { workedOff } from "../rounds/working-off.ts";
import { PostgresCounter } from "./postgres-counter.ts";
import { RedisCounter } from "./redis-counter.ts";

/** What one process said to the servers while it worked off a backlog. */
export interface Counts {
  readonly redisCallsPerEvent: number;
  readonly redisTripsPerEvent: number;
  readonly postgresTripsPerEvent: number;
  /** Null when no transaction was committed. */
  readonly postgresTripsPerTransaction: number | null;
  readonly eventsPerTransaction: number | null;
  /** All calls of the round, most frequent first; scripts as `evalsha DIGEST KEY`. */
  readonly redisCallsByName: Readonly<Record<string, number>>;
}

export interface CountedRoundOptions extends Pick<LiveOptions, "sandbox" | "prefix" | "warmUp"> {
  readonly events: readonly EventEnvelope[];
  /** A contender that has not worked off the events by then is a failure. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs one process with proxies in front of both servers and counts from the moment the backlog is let go until it is empty.
 * The proxies cost time, so no figure of time is taken from such a round.
 */
export async function countedRound(contender: Contender, options: CountedRoundOptions): Promise<Counts> {
  const { sandbox, prefix, events, withinMs, signal } = options;
  const redis = new RedisCounter({ prefix });
  const postgres = new PostgresCounter();
  const redisProxy = await startProxy({ url: sandbox.redis.url, onData: redis.hook });
  const postgresProxy = await startProxy({ url: sandbox.postgres.url, onData: postgres.hook });
  try {
    const live = await startLive(contender, {
      ...options,
      groundOfProcesses: (ground) => ({
        ...ground,
        redisUrl: redisProxy.url,
        databaseUrl: throughPort(ground.databaseUrl, postgresProxy.port),
      }),
    });
    try {
      live.freeze();
      await live.carrier.publish(events);
      redis.reset();
      postgres.reset();
      live.letGo();
      const { left } = await workedOff(live, { withinMs, signal });
      if (left > 0) throw new Error(`${contender.name} left ${left} of ${events.length} events to count`);
      return countsOf({ redis, postgres, events: events.length });
    } finally {
      await live.stop();
    }
  } finally {
    await Promise.all([redisProxy.close(), postgresProxy.close()]);
  }
}

function countsOf({
  redis,
  postgres,
  events,
}: {
  readonly redis: RedisCounter;
  readonly postgres: PostgresCounter;
  readonly events: number;
}): Counts {
  const { calls, trips: redisTrips, callsByName } = redis.counts();
  const { trips, commits, transactionTrips } = postgres.counts();
  return {
    redisCallsPerEvent: calls / events,
    redisTripsPerEvent: redisTrips / events,
    postgresTripsPerEvent: trips / events,
    postgresTripsPerTransaction: commits === 0 ? null : transactionTrips / commits,
    eventsPerTransaction: commits === 0 ? null : events / commits,
    redisCallsByName: callsByName,
  };
}

function throughPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}
