import { fileURLToPath } from "node:url";
import { createPublisher } from "@junban/event-queues";
import { migrate } from "@junban/order-store";
import { hotStory, trafficOf } from "@junban/order-stories";
import {
  forgetStatementTimes,
  STATEMENT_TIMES,
  startProcess,
  startProxy,
  startSandbox,
  statementTimes,
} from "@junban/sandbox";
import { Redis } from "ioredis";
import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import type { Contender } from "../../apps/bench/src/contenders/contender.ts";
import { junban } from "../../apps/bench/src/contenders/junban.ts";
import { countedRound } from "../../apps/bench/src/counts/counted-round.ts";
import { PostgresCounter } from "../../apps/bench/src/counts/postgres-counter.ts";
import { RedisCounter } from "../../apps/bench/src/counts/redis-counter.ts";
import { RedisRequestReader } from "../../apps/bench/src/counts/redis-requests.ts";
import { readCommandStats } from "../../apps/bench/src/profile/command-times.ts";
import { eventually, freshRedis } from "../support/index.ts";

/** A worker from its sources, with servers of its own, on a machine that may have much else to do. */
const SLOWLY = { withinMs: 60_000 };
const WHOLE_RUN_MS = 180_000;
const FROM_SOURCE: Contender = {
  ...junban,
  script: fileURLToPath(new URL("../../apps/worker/src/main.ts", import.meta.url)),
  env: { NODE_OPTIONS: "--import tsx --conditions @junban/source" },
};

function request(...words: readonly (string | Buffer)[]): Buffer {
  const parts = words.map((word) => {
    const bytes = Buffer.from(word);
    return Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n")]);
  });
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]);
}

test("reads a client's commands wherever their bytes are cut, whatever they hold", () => {
  const stream = Buffer.concat([
    request("MULTI"),
    request("set", "key", Buffer.from("\r\n*2\r\n$3\r\nget\r\n\u0000\u00ff", "latin1")),
    request("get", ""),
    Buffer.from("PING\r\n"),
    request("evalsha", "digest", "1", "k".repeat(500), "more"),
    request("exec"),
  ]);
  for (let size = 1; size <= stream.length; size += 1) {
    const commands: string[] = [];
    const reader = new RedisRequestReader(([name = ""]) => commands.push(name));
    for (let at = 0; at < stream.length; at += size) reader.read(stream.subarray(at, at + size));
    expect(commands, `in pieces of ${size} bytes`).toEqual([
      "MULTI",
      "set",
      "get",
      "PING",
      "evalsha",
      "exec",
    ]);
  }
});

test("counts each command that a client sends to Redis, and a trip for each time it had waited for an answer", async () => {
  const { prefix, url } = freshRedis();
  const counter = new RedisCounter({ prefix });
  const proxy = await startProxy({ url, onData: counter.hook });
  const redis = new Redis(proxy.url);
  onTestFinished(async () => {
    redis.disconnect();
    await proxy.close();
  });
  await redis.ping();
  counter.reset();

  await redis.set(`${prefix}:a`, "1");
  await redis.pipeline().incr(`${prefix}:a`).incr(`${prefix}:a`).get(`${prefix}:a`).exec();
  await redis.multi().incr(`${prefix}:a`).exec();
  await redis.eval("return redis.call('incr', KEYS[1])", 1, `${prefix}:lane:{ORDER-1}`);

  expect(counter.counts()).toEqual({
    calls: 8,
    trips: 4,
    callsByName: { incr: 3, set: 1, get: 1, multi: 1, exec: 1, "eval lane:{}": 1 },
  });
});

test("counts a trip for what goes to Postgres at once, and tells those of transactions from single statements", async () => {
  const counter = new PostgresCounter();
  const proxy = await startProxy({ url: inject("junban").adminUrl, onData: counter.hook });
  const client = new pg.Client({ connectionString: proxy.url, pipeline: true });
  onTestFinished(async () => {
    await client.end();
    await proxy.close();
  });
  await client.connect();
  counter.reset();

  await client.query("select 1");
  expect(counter.counts()).toEqual({ trips: 1, commits: 0, transactionTrips: 0 });

  await client.query("begin");
  await client.query("select $1::text", ["x".repeat(300_000)]);
  await client.query("commit");
  expect(counter.counts()).toEqual({ trips: 4, commits: 1, transactionTrips: 3 });

  await client.query("begin; select 1; commit");
  await client.query("begin; select 1; rollback");
  expect(counter.counts()).toEqual({ trips: 6, commits: 2, transactionTrips: 5 });
});

test(
  "counts of a worker what both servers and the worker itself have counted",
  { timeout: WHOLE_RUN_MS },
  async () => {
    const prefix = "counted";
    const sandbox = await startSandbox({ postgres: { settings: STATEMENT_TIMES } });
    onTestFinished(() => sandbox.stop());
    const databaseUrl = await sandbox.postgres.createDatabase();
    await migrate({ databaseUrl });
    const redisCounter = new RedisCounter({ prefix });
    const postgresCounter = new PostgresCounter();
    const redisProxy = await startProxy({ url: sandbox.redis.url, onData: redisCounter.hook });
    const postgresProxy = await startProxy({ url: databaseUrl, onData: postgresCounter.hook });
    onTestFinished(() => redisProxy.close());
    onTestFinished(() => postgresProxy.close());

    const events = trafficOf({ orders: 20, events: 200, skew: "uniform", seed: 1 });
    const publisher = createPublisher({ redis: sandbox.redis.url, prefix });
    await publisher.publishAll(events);
    await publisher.close();
    const asker = new Redis(sandbox.redis.url);
    onTestFinished(() => asker.disconnect());
    await asker.config("RESETSTAT");
    await forgetStatementTimes(sandbox.postgres);

    const worker = await startProcess({
      command: process.execPath,
      args: [FROM_SOURCE.script],
      env: {
        ...FROM_SOURCE.env,
        PATH: process.env["PATH"],
        DATABASE_URL: postgresProxy.url,
        REDIS_URL: redisProxy.url,
        JUNBAN_PREFIX: prefix,
        JUNBAN_HTTP_PORT: "0",
      },
    });
    onTestFinished(async () => void (await worker.stop({ signal: "SIGKILL" })));
    const served = await worker.waitForLine(FROM_SOURCE.startedLine, { withinMs: 60_000 });
    const { httpPort } = JSON.parse(served) as { httpPort: number };
    const figure = async (name: RegExp): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
      return [...text.matchAll(name)].reduce((sum, [, value]) => sum + Number(value), 0);
    };
    await eventually(
      async () => (await figure(/^junban_events_total\{.*\} (\d+)$/gmu)) === events.length,
      SLOWLY,
    );
    const transactions = await figure(/^junban_commit_lanes_count (\d+)$/gmu);
    // Nothing more is said; what was said last may still be on its way.
    worker.signal("SIGSTOP");

    await eventually(async () => {
      const stats = readCommandStats(await asker.info("commandstats"));
      return stats.find(({ command }) => command === "evalsha")?.calls === scriptsRun(redisCounter);
    }, SLOWLY);
    expect(scriptsRun(redisCounter)).toBeGreaterThan(events.length);
    const { commits, transactionTrips } = postgresCounter.counts();
    const statements = await statementTimes(sandbox.postgres, databaseUrl);
    expect(commits).toBe(statements.find(({ text }) => /^commit$/iu.test(text))?.calls);
    expect(commits).toBe(transactions);
    expect(transactionTrips / commits).toBeLessThanOrEqual(3);
  },
);

test(
  "counts a contender's round from its backlog's first event to its last, and nothing of its start",
  { timeout: WHOLE_RUN_MS },
  async () => {
    const sandbox = await startSandbox();
    onTestFinished(() => sandbox.stop());
    const events = hotStory({ lcid: "HOT-1", events: 100, seed: 1 });
    const counts = await countedRound(FROM_SOURCE, {
      sandbox,
      prefix: "counted",
      events,
      warmUp: 100,
      withinMs: 60_000,
      signal: new AbortController().signal,
    });
    expect(counts.redisCallsPerEvent).toBeGreaterThan(1);
    expect(counts.redisTripsPerEvent).toBeLessThan(counts.redisCallsPerEvent);
    expect(counts.postgresTripsPerTransaction).toBeLessThanOrEqual(3);
    expect(Object.keys(counts.redisCallsByName)).not.toContain("info");
  },
);

function scriptsRun(counter: RedisCounter): number {
  return Object.entries(counter.counts().callsByName)
    .filter(([name]) => name.startsWith("evalsha "))
    .reduce((sum, [, count]) => sum + count, 0);
}
