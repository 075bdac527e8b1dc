import { fileURLToPath } from "node:url";
import { startProcess, startProxy, startRedis, type ProcessTree } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  connectTo,
  freshPlace,
  openUpdates,
  outboxOf,
  poolOf,
  queued,
  told,
  versionsOf,
  writeNews,
  type Place,
} from "./lab.ts";

const PROGRAM = fileURLToPath(new URL("../../apps/relay/src/main.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LIMIT_MS = 90_000;

async function launch(
  { databaseUrl, redisUrl, prefix }: Place,
  env: Readonly<Record<string, string>> = {},
): Promise<ProcessTree> {
  const tree = await startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", PROGRAM],
    env: {
      PATH: process.env["PATH"],
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      JUNBAN_PREFIX: prefix,
      JUNBAN_HTTP_PORT: "0",
      ...env,
    },
    cwd: ROOT,
  });
  onTestFinished(async () => {
    await tree.stop({ signal: "SIGKILL" });
  });
  return tree;
}

interface Running {
  readonly tree: ProcessTree;
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

async function start(place: Place, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const tree = await launch(place, env);
  const line = await tree.waitForLine("the relay runs", { withinMs: 60_000 });
  const { httpPort } = JSON.parse(line) as { httpPort: number };
  return {
    tree,
    get: async (path) => {
      const response = await fetch(`http://127.0.0.1:${httpPort}${path}`);
      return { status: response.status, text: await response.text() };
    },
  };
}

async function leads(relay: Running): Promise<boolean> {
  return /^junban_relay_leads 1$/m.test((await relay.get("/metrics")).text);
}

async function lagOf(relay: Running): Promise<number> {
  const [, seconds] = /^junban_updates_lag_seconds (.+)$/m.exec((await relay.get("/metrics")).text) ?? [];
  return Number(seconds);
}

describe("the relay's process", () => {
  test(
    "passes on what was committed; probes and metrics tell so, and it ends with 0 when asked to",
    async () => {
      const place = await freshPlace();
      const pool = poolOf(place);
      await writeNews(pool, versionsOf("O1", 3));
      const relay = await start(place);
      await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
      expect(await queued(place)).toEqual(told(versionsOf("O1", 3)));
      expect((await relay.get("/livez")).status).toBe(200);
      const ready = await relay.get("/readyz");
      expect({ status: ready.status, ...(JSON.parse(ready.text) as object) }).toEqual({
        status: 200,
        ok: true,
        leads: true,
        obstacle: null,
        redis: "answers",
      });
      expect((await relay.get("/metrics")).text).toContain("junban_updates_passed_on_total 3");
      relay.tree.signal("SIGTERM");
      expect(await relay.tree.exited).toMatchObject({ code: 0 });
    },
    LIMIT_MS,
  );

  test(
    "tells in its metrics how long the oldest update has waited while Redis is away, and 0 once it is back",
    async () => {
      const place = await freshPlace();
      const proxy = await startProxy({ url: place.redisUrl });
      onTestFinished(async () => proxy.close());
      const relay = await start({ ...place, redisUrl: proxy.url });
      await eventually(async () => leads(relay), { withinMs: 20_000 });
      expect(await lagOf(relay)).toBe(0);

      proxy.cut();
      await writeNews(poolOf(place), versionsOf("O1", 2));

      const withinMs = 20_000;
      const early = await eventually(
        async () => {
          const seconds = await lagOf(relay);
          return seconds > 0 && seconds;
        },
        { withinMs },
      );
      await eventually(async () => (await lagOf(relay)) > early + 1, { withinMs });
      proxy.heal();
      await eventually(async () => (await outboxOf(poolOf(place))).length === 0, { withinMs });
      await eventually(async () => (await lagOf(relay)) === 0, { withinMs });
    },
    LIMIT_MS,
  );

  test(
    "is followed by another within seconds when it is killed, and when it freezes; waking up it does no harm",
    async () => {
      const place = await freshPlace();
      const pool = poolOf(place);
      const first = await start(place);
      await eventually(async () => leads(first), { withinMs: 20_000 });
      const second = await start(place);
      const third = await start(place);
      await writeNews(pool, versionsOf("O1", 2));
      await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });

      first.tree.signal("SIGKILL");
      await writeNews(pool, versionsOf("O1", 2, 3));
      await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
      const [leader, other] = (await leads(second)) ? [second, third] : [third, second];

      leader.tree.signal("SIGSTOP");
      await writeNews(pool, versionsOf("O1", 2, 5));
      await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 40_000 });
      leader.tree.signal("SIGCONT");
      await eventually(async () => !(await leads(leader)), { withinMs: 20_000 });
      expect(await leads(other)).toBe(true);
      await writeNews(pool, versionsOf("O1", 2, 7));
      await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 20_000 });
      expect(await queued(place)).toEqual(told(versionsOf("O1", 8)));
      expect(await openUpdates(place).depth()).toBe(8);
    },
    2 * LIMIT_MS,
  );

  test(
    "ends within its grace while neither service answers, and says what it leaves behind",
    async () => {
      const place = await freshPlace();
      const [redis, postgres] = [
        await startProxy({ url: place.redisUrl }),
        await startProxy({ url: place.databaseUrl }),
      ];
      onTestFinished(async () => void (await Promise.all([redis.close(), postgres.close()])));
      let isHung = false;
      redis.onData((direction, chunk) => {
        // The first call that names the news.
        if (!isHung && direction === "toServer" && chunk.includes("O1!1")) {
          postgres.drop();
          isHung = true;
        }
        return isHung ? "drop" : "pass";
      });
      const relay = await start(
        { ...place, redisUrl: redis.url, databaseUrl: postgres.url },
        { JUNBAN_SHUTDOWN_GRACE_MS: "4000" },
      );
      await writeNews(poolOf(place), versionsOf("O1", 3));
      await eventually(() => isHung, { withinMs: 20_000 });

      relay.tree.signal("SIGTERM");

      expect(await relay.tree.exited).toMatchObject({ code: 0 });
      expect(relay.tree.stdout()).toContain("the relay ends without an answer");
      // Nothing is lost: the next one finds all of them.
      expect(await outboxOf(poolOf(place))).toEqual(versionsOf("O1", 3));
    },
    LIMIT_MS,
  );

  test(
    "ends with 2 for a bad variable, and says which",
    async () => {
      const tree = await launch(await freshPlace(), { JUNBAN_UPDATES_CAP: "plenty" });
      expect(await tree.exited).toEqual({ code: 2, signal: null });
      expect(tree.stderr()).toContain("JUNBAN_UPDATES_CAP");
    },
    LIMIT_MS,
  );

  test(
    "refuses a schema that lacks migrations, and says what to do",
    async () => {
      const place = await freshPlace();
      await poolOf(place).query("delete from junban_migrations where name > '0002'");
      const tree = await launch(place);
      expect(await tree.exited).toMatchObject({ code: 1 });
      expect(`${tree.stdout()}${tree.stderr()}`).toContain("run junban migrate");
    },
    LIMIT_MS,
  );

  test(
    "is ready as a standby only while it could take over",
    async () => {
      const place = await freshPlace();
      const leader = await start(place);
      await eventually(async () => leads(leader), { withinMs: 20_000 });
      const proxy = await startProxy({ url: place.redisUrl });
      onTestFinished(async () => proxy.close());
      const standby = await start({ ...place, redisUrl: proxy.url });
      const expectReadiness = async (relay: Running, expected: object): Promise<void> =>
        eventually(
          async () => {
            const { status, text } = await relay.get("/readyz");
            expect({ status, ...(JSON.parse(text) as object) }).toMatchObject(expected);
          },
          { withinMs: 20_000 },
        );
      await expectReadiness(standby, { status: 200, leads: false, redis: "answers" });

      proxy.cut();

      await expectReadiness(standby, { status: 503, leads: false, obstacle: null, redis: "silent" });
      await expectReadiness(leader, { status: 200, leads: true, redis: "answers" });
      proxy.heal();
      await expectReadiness(standby, { status: 200, leads: false, redis: "answers" });
    },
    LIMIT_MS,
  );

  test(
    "refuses a Redis that may evict keys with 2, and tells of one that may since it started",
    async () => {
      const place = await freshPlace();
      const server = await startRedis({ appendOnly: false, settings: { "maxmemory-policy": "allkeys-lru" } });
      onTestFinished(async () => server.stop());
      const there = { ...place, redisUrl: server.url };
      const refused = await launch(there);
      expect(await refused.exited).toMatchObject({ code: 2 });
      expect(refused.stdout()).toContain("set it to noeviction");

      const redis = connectTo(there);
      await redis.config("SET", "maxmemory-policy", "noeviction");
      const relay = await start(there);
      await redis.config("SET", "maxmemory-policy", "volatile-ttl");
      await relay.tree.waitForLine("maxmemory-policy volatile-ttl", { withinMs: 20_000 });
      const { status, text } = await relay.get("/readyz");
      expect({ status, ...(JSON.parse(text) as object) }).toMatchObject({ status: 503, redis: "may-evict" });
    },
    LIMIT_MS,
  );

  test(
    "waits for a Postgres that goes once more while it is asked whether it is fit",
    async () => {
      const place = await freshPlace();
      const pool = poolOf(place);
      await writeNews(pool, versionsOf("O1", 2));
      const proxy = await startProxy({ url: place.databaseUrl });
      onTestFinished(async () => proxy.close());
      let hasAnswered = false;
      let refusals = 0;
      proxy.onData((direction, chunk) => {
        // The first question ends with a Terminate of its connection.
        if (direction === "toServer" && chunk[0] === 0x58) hasAnswered = true;
        else if (hasAnswered && direction === "toServer" && refusals < 3) {
          refusals += 1;
          return "cut";
        }
        return "pass";
      });
      const relay = await start({ ...place, databaseUrl: proxy.url });
      await eventually(async () => (await outboxOf(pool)).length === 0, { withinMs: 30_000 });
      expect(refusals).toBe(3);
      relay.tree.signal("SIGTERM");
      expect(await relay.tree.exited).toMatchObject({ code: 0 });
    },
    LIMIT_MS,
  );
});
