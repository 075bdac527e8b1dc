import { startProxy } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { freshPlace, startConsole } from "./console-lab.ts";
import { cookieIn, HASH, PASSWORD, tokenIn } from "./console-process.ts";
import { EVERY_PAGE } from "./every-page.ts";
import { applyAll, event, placed, storeAt } from "./stage.ts";

test("nothing that was published, typed to log in or looked for, and no secret, is in the log on any level or in metrics", async () => {
  const canary = "canary4711";
  const place = await freshPlace();
  const [postgres, redis] = await Promise.all([
    startProxy({ url: place.databaseUrl }),
    startProxy({ url: place.redisUrl }),
  ]);
  onTestFinished(async () => {
    await Promise.all([postgres.close(), redis.close()]);
  });
  const store = storeAt(place);
  const failed = { source: "/payments", id: "evt-cursed" };
  const data = { stage: "capture", ref: "cursed", code: canary, note: canary };
  await applyAll(store, [placed("S-1"), event("S-1", "payment.failed", data, failed)]);
  await store.close();
  const secret = "s".repeat(40);
  const junban = await startConsole(
    { ...place, databaseUrl: postgres.url, redisUrl: redis.url },
    { LOG_LEVEL: "trace", JUNBAN_CONSOLE_PROXY_SECRET: secret },
  );

  const cookie = await junban.logIn("olga");
  const token = await junban.formToken(cookie);
  const door = await junban.ask("/login");
  const stranger = {
    cookie: cookieIn(door),
    form: { token: tokenIn(door.text), name: canary, password: canary },
  };
  const everything = async (): Promise<void> => {
    expect((await junban.ask("/login", stranger)).status).toBe(403);
    for (const path of EVERY_PAGE) await junban.ask(path, { cookie });
    const query = new URLSearchParams({ q: canary, source: canary }).toString();
    await junban.ask(`/search?${query}`, { cookie });
    await junban.ask(`/${canary}?${query}`, { cookie });
    await junban.ask("/", { headers: { "x-junban-proxy-secret": canary, "x-forwarded-user": canary } });
    const act = { ...failed, token, reason: "mended", back: `/${canary}` };
    for (const path of ["/acts/replay", "/acts/drop"]) await junban.ask(path, { cookie, form: act });
    await junban.ask("/acts/drop", { cookie, form: { ...act, reason: canary.repeat(60) } });
    await junban.ask("/queues/act/api/queues", { cookie });
  };
  await everything();
  postgres.cut();
  redis.cut();
  await everything();
  const metrics = await (await fetch(`${junban.healthUrl}/metrics`)).text();
  junban.tree.signal("SIGTERM");
  await junban.tree.exited;
  const said = [junban.tree.stdout(), junban.tree.stderr(), metrics];
  expect(said[0]).toContain("an operator acted");
  const [, session = ""] = cookie.split("=");
  for (const hidden of [canary, PASSWORD, HASH, secret, session, token]) {
    expect(said.filter((text) => text.includes(hidden))).toEqual([]);
  }
}, 120_000);
