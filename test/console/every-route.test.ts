import type { AddressInfo } from "node:net";
import { openRawQueues } from "@junban/event-queues";
import type { Fleet } from "@junban/operations";
import { createLogger } from "@junban/service";
import { expect, onTestFinished, test } from "vitest";
import { Actions } from "../../apps/console/src/actions.ts";
import { readAssets } from "../../apps/console/src/assets.ts";
import { Attempts } from "../../apps/console/src/attempts.ts";
import { Doorkeeper } from "../../apps/console/src/doorkeeper.ts";
import { LiveGlance } from "../../apps/console/src/live-glance.ts";
import { LoginDesk } from "../../apps/console/src/login-desk.ts";
import { OwnOrigin } from "../../apps/console/src/own-origin.ts";
import { createConsoleServer } from "../../apps/console/src/server.ts";
import { Sessions } from "../../apps/console/src/sessions.ts";
import { freshRedis } from "../support/index.ts";

/** What strangers may reach, by method and address. Whoever adds to it says why in docs/console.md. */
const OPEN = [
  "GET /assets/console.css",
  "GET /assets/console.js",
  "GET /assets/icon.svg",
  "GET /livez",
  "GET /login",
];

test("of all the addresses there are, strangers reach the door and what it needs, and nothing behind it is asked", async () => {
  const touched: string[] = [];
  const untouchable = (name: string): unknown =>
    new Proxy(
      {},
      {
        get: (_target, method) => () => {
          touched.push(`${name}.${String(method)}`);
          throw new Error("a stranger came this far");
        },
      },
    );
  const fleet = {
    store: untouchable("store"),
    lanes: untouchable("lanes"),
    queues: untouchable("queues"),
  } as Fleet;
  const { url, prefix } = freshRedis();
  const rawQueues = openRawQueues({ redis: url, prefix });
  onTestFinished(() => rawQueues.close());
  const logger = createLogger({ name: "test", level: "silent" });
  const routes: (readonly [method: string, path: string])[] = [];
  const app = await createConsoleServer({
    fleet,
    rawQueues,
    logger,
    doorkeeper: new Doorkeeper({
      sessions: new Sessions({ idleMs: 1_000, longestMs: 1_000 }),
      proxy: null,
      origin: new OwnOrigin(""),
    }),
    loginDesk: new LoginDesk({
      users: [],
      byName: new Attempts({ most: 1, everyMs: 1 }),
      byAddress: new Attempts({ most: 1, everyMs: 1 }),
    }),
    origin: new OwnOrigin(""),
    actions: new Actions({ store: fleet.store, logger }),
    live: new LiveGlance({
      read: async () => fleet.store.gauges().then(() => Promise.reject(new Error("read"))),
      refreshMs: 1_000,
      message: () => "",
      signal: AbortSignal.abort(),
    }),
    examine: async () => fleet.store.health().then(() => Promise.reject(new Error("examined"))),
    assets: await readAssets(),
    isEnding: () => false,
    onRoute: ({ method, url: path }) => {
      for (const each of [method].flat()) routes.push([each, path]);
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(async () => app.close());
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  const reached: string[] = [];
  for (const [method, path] of routes.filter(([each]) => each !== "HEAD")) {
    const filled = path.replaceAll(/:\w+|\*/gu, "x");
    const response = await fetch(`${base}${filled}`, {
      method,
      headers: { origin: base },
      redirect: "manual",
      ...(method === "GET" ? {} : { body: new URLSearchParams({ source: "x", id: "x", reason: "x" }) }),
    });
    const text = await response.text();
    if (response.status !== 401 || text !== "log in first\n") reached.push(`${method} ${path}`);
  }
  // A stranger's form without the door's own token goes no further either.
  expect(reached.toSorted()).toEqual([...OPEN, "POST /login"].toSorted());
  expect(routes.length).toBeGreaterThan(60);
  expect(touched).toEqual([]);
});
