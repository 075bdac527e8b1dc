import { startProxy, startRedis } from "@junban/sandbox";
import type { RedisServer } from "@junban/sandbox";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { openConnection, answerIn } from "./exchange.ts";
import {
  eventOf,
  eventsOf,
  freshKey,
  freshPlace,
  idsOf,
  launchGateway,
  standingIn,
  startGateway,
} from "./gateway-lab.ts";
import type { Gateway, Place } from "./gateway-lab.ts";

const LIMIT_MS = 120_000;

interface Answered {
  readonly taken: string[];
  readonly statuses: Set<number>;
}

/** Sends batch after batch of one order until told, and keeps what was answered 202. */
function sendBatches(gateway: Gateway, lcid: string): { readonly answered: Answered; stop(): Promise<void> } {
  const answered: Answered = { taken: [], statuses: new Set() };
  const over = new AbortController();
  const sending = (async () => {
    for (let from = 0; !over.signal.aborted; from += 10) {
      const batch = eventsOf(lcid, 10, from);
      try {
        const { status, document } = await gateway.post(batch);
        answered.statuses.add(status);
        for (const result of document.results ?? []) {
          if (result.status === 202) answered.taken.push(String(result["id"]));
        }
      } catch {
        // No answer at all: whatever became of these, nobody was told that they were taken.
      }
    }
  })();
  const stop = async (): Promise<void> => {
    over.abort();
    await sending;
  };
  return { answered, stop };
}

async function expectStanding(place: Place, lcid: string, ids: readonly string[]): Promise<void> {
  const standing = idsOf(await standingIn(place, lcid));
  const missing = ids.filter((id) => !standing.includes(id));
  expect(missing).toEqual([]);
  const inOrder = standing.filter((id) => ids.includes(id));
  expect(inOrder).toEqual(ids);
}

describe("a Redis that goes away", () => {
  test(
    "is answered 503 with a time to come again, never 202; `/readyz` says so, and both end when it is back",
    async () => {
      const corner = freshPlace();
      const proxy = await startProxy({ url: corner.redisUrl });
      onTestFinished(async () => proxy.close());
      const gateway = await startGateway({ ...corner, redisUrl: proxy.url });
      expect((await gateway.post(eventsOf("D-1", 2))).status).toBe(202);
      expect((await gateway.health("/readyz")).status).toBe(200);

      proxy.cut();
      const answer = await eventually(async () => {
        const given = await gateway.post(eventsOf("D-1", 2, 2));
        expect(given.status).toBe(503);
        return given;
      });
      expect(answer.headers["retry-after"]).toBe("5");
      expect(answer.document.results?.map(({ status }) => status)).toEqual([503, 503]);
      expect(JSON.stringify(answer.document)).not.toMatch(/ECONN|127\.0\.0\.1|redis:/);
      await eventually(async () => {
        const ready = await gateway.health("/readyz");
        expect(ready.status).toBe(503);
        expect(JSON.parse(ready.text)).toEqual({ ok: false, redis: "silent", requests: "taken" });
      });
      expect((await gateway.health("/livez")).status).toBe(200);

      proxy.heal();
      await eventually(async () => expect((await gateway.post(eventsOf("D-1", 2, 2))).status).toBe(202));
      expect(idsOf(await standingIn(corner, "D-1"))).toEqual(idsOf(eventsOf("D-1", 4)));
      await eventually(async () => expect((await gateway.health("/readyz")).status).toBe(200));
      await eventually(async () => {
        expect((await gateway.post(eventsOf("D-1", 2, 2))).status).toBe(202);
        const lines = gateway.tree
          .stdout()
          .match(/Redis (?:does not acknowledge events|acknowledges events again)/g);
        expect(lines).toEqual(["Redis does not acknowledge events", "Redis acknowledges events again"]);
      });
      expect((await gateway.health("/metrics")).text).toMatch(
        /junban_gateway_events_total\{outcome="queued"\} 4\n/,
      );
    },
    LIMIT_MS,
  );

  test(
    "and answers nothing is answered 503 within seconds",
    async () => {
      const corner = freshPlace();
      const proxy = await startProxy({ url: corner.redisUrl });
      onTestFinished(async () => proxy.close());
      const gateway = await startGateway({ ...corner, redisUrl: proxy.url });
      proxy.drop();
      const answer = await gateway.post(eventsOf("D-2", 1));
      expect(answer.status).toBe(503);
      expect(answer.document.error?.code).toBe("REDIS_TIMEOUT");
    },
    LIMIT_MS,
  );

  test(
    "comes back with every event that was answered 202, in the order sent",
    async () => {
      const redis = await startRedis();
      onTestFinished(async () => redis.stop());
      const place = { redisUrl: redis.url, prefix: "junban" };
      const gateway = await startGateway(place);
      const batches = sendBatches(gateway, "D-3");
      await eventually(() => batches.answered.taken.length >= 50, { withinMs: 30_000 });
      await redis.restart({ awayMs: 300 });
      await eventually(() => batches.answered.statuses.has(503), { withinMs: 30_000 });
      const before = batches.answered.taken.length;
      await eventually(() => batches.answered.taken.length >= before + 20, { withinMs: 30_000 });
      await batches.stop();
      await expectStanding(place, "D-3", batches.answered.taken);
    },
    LIMIT_MS,
  );
});

describe("a gateway that ends", () => {
  test(
    "by SIGKILL in the middle of batches has lost nothing that it answered 202",
    async () => {
      const place = freshPlace();
      const gateway = await startGateway(place);
      const batches = sendBatches(gateway, "E-1");
      await eventually(() => batches.answered.taken.length >= 100, { withinMs: 30_000 });
      gateway.tree.signal("SIGKILL");
      await gateway.tree.exited;
      await batches.stop();
      expect(batches.answered.statuses).toEqual(new Set([202]));
      await expectStanding(place, "E-1", batches.answered.taken);
    },
    LIMIT_MS,
  );

  test(
    "by SIGTERM finishes the request that is arriving, takes no other, and exits 0",
    async () => {
      const place = freshPlace();
      const gateway = await startGateway(place);
      const event = eventOf({ lcid: "E-2" });
      const body = JSON.stringify(event);
      const head = [
        "POST /events HTTP/1.1",
        "host: gateway",
        `authorization: Bearer ${gateway.token}`,
        "content-type: application/cloudevents+json",
        `content-length: ${body.length}`,
      ].join("\r\n");
      const { socket, heard } = openConnection(gateway.port);
      socket.write(`${head}\r\n\r\n${body.slice(0, 10)}`);
      // The server has to have begun this one: a whole exchange on another connection comes after it.
      expect((await gateway.post([])).status).toBe(202);
      gateway.tree.signal("SIGTERM");
      await gateway.tree.waitForLine("shutting down");
      await eventually(async () => {
        await expect(gateway.post([])).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
      });
      socket.write(body.slice(10));
      expect(answerIn(await heard).status).toBe(202);
      expect(await gateway.tree.exited).toEqual({ code: 0, signal: null });
      expect(await standingIn(place, "E-2")).toEqual([event]);
    },
    LIMIT_MS,
  );

  test(
    "by SIGTERM refuses what comes on an old connection, and cuts off what never arrives whole",
    async () => {
      const gateway = await startGateway(freshPlace(), {
        JUNBAN_SHUTDOWN_GRACE_MS: "2000",
        JUNBAN_GATEWAY_REQUEST_MS: "60000",
      });
      const endless = openConnection(gateway.port);
      endless.socket.write("POST /events HTTP/1.1\r\nhost: gateway\r\n");
      const old = openConnection(gateway.port);
      old.socket.write("POST /events HTTP/1.1\r\nhost: gateway\r\ncontent-length: 0\r\n");
      expect((await gateway.post([])).status).toBe(202);
      gateway.tree.signal("SIGTERM");
      await gateway.tree.waitForLine("shutting down");
      old.socket.write("\r\n");
      const answer = answerIn(await old.heard);
      expect(answer.status).toBe(503);
      expect(answer.document.error?.code).toBe("CLOSING");
      expect(answer.headers["retry-after"]).toBe("1");
      expect(await gateway.tree.exited).toEqual({ code: 0, signal: null });
    },
    LIMIT_MS,
  );
});

describe("a gateway that starts", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await redis.stop();
  });

  test(
    "waits for Redis, alive and not ready, and refuses one that may drop what was acknowledged",
    async () => {
      const corner = freshPlace();
      const proxy = await startProxy({ url: corner.redisUrl });
      onTestFinished(async () => proxy.close());
      proxy.cut();
      const tree = await launchGateway({ REDIS_URL: proxy.url, JUNBAN_GATEWAY_TOKENS: freshKey().list });
      onTestFinished(async () => {
        await tree.stop({ signal: "SIGKILL" });
      });
      await tree.waitForLine("waiting for Redis", { withinMs: 30_000 });
      proxy.heal();
      await tree.waitForLine("the gateway serves", { withinMs: 30_000 });
      const prompt = await startGateway(corner);
      expect(prompt.tree.stdout()).not.toContain("waiting");

      const { Redis } = await import("ioredis");
      const client = new Redis(redis.url);
      await client.config("SET", "maxmemory-policy", "allkeys-lru");
      client.disconnect();
      const refused = await launchGateway({ REDIS_URL: redis.url, JUNBAN_GATEWAY_TOKENS: freshKey().list });
      onTestFinished(async () => {
        await refused.stop({ signal: "SIGKILL" });
      });
      await refused.waitForLine("noeviction", { withinMs: 20_000 });
      expect(await refused.exited).toEqual({ code: 2, signal: null });
      expect(refused.stdout()).toContain("noeviction");
      expect(refused.stdout()).not.toContain(redis.password);
    },
    LIMIT_MS,
  );

  test(
    "with a mistake in its configuration ends with 2 and says which, never what a secret is",
    async () => {
      const list = JSON.parse(freshKey().list) as readonly Record<string, unknown>[];
      const secret = "canary-secret-in-the-wrong-place";
      const mistakes: readonly (readonly [Record<string, string>, string])[] = [
        [{}, "JUNBAN_GATEWAY_TOKENS_FILE is not set"],
        [{ JUNBAN_GATEWAY_TOKENS: secret }, "a list of 1 to 1,000 tokens as JSON"],
        [{ JUNBAN_GATEWAY_TOKENS: JSON.stringify([{ ...list[0], token: secret }]) }, "entry 1"],
        [
          { JUNBAN_GATEWAY_TOKENS: JSON.stringify([{ ...list[0], sha256: secret }]) },
          "64 hexadecimal digits",
        ],
        [{ JUNBAN_GATEWAY_TOKENS: JSON.stringify([...list, ...list]) }, "each sha256 once"],
        [{ JUNBAN_GATEWAY_TOKENS_FILE: "/nowhere/tokens.json" }, "a file that can be read"],
        [{ JUNBAN_GATEWAY_TOKENS: freshKey().list, JUNBAN_GATEWAY_STRIPE_SECRETS: "canary" }, "16 to 512"],
        [{ JUNBAN_GATEWAY_TOKENS: freshKey().list, JUNBAN_GATEWAY_BATCH: "0" }, "JUNBAN_GATEWAY_BATCH"],
      ];
      for (const [env, words] of mistakes) {
        const tree = await launchGateway({ REDIS_URL: redis.url, ...env });
        expect(await tree.exited).toEqual({ code: 2, signal: null });
        expect(tree.stderr()).toContain(words);
        expect(`${tree.stdout()}${tree.stderr()}`).not.toContain("canary");
      }
    },
    LIMIT_MS,
  );
});
