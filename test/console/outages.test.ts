import { startProxy } from "@junban/sandbox";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, PROVIDED_WITHIN_MS, visit } from "./browser-lab.ts";
import { consoleOfFile, freshPlace, startConsole } from "./console-lab.ts";
import { fillStage, TOLD } from "./stage.ts";

const place = await freshPlace();
await fillStage(place);
const [postgres, redis] = await Promise.all([
  startProxy({ url: place.databaseUrl }),
  startProxy({ url: place.redisUrl }),
]);
const junban = await consoleOfFile({ ...place, databaseUrl: postgres.url, redisUrl: redis.url });
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
}, PROVIDED_WITHIN_MS);
afterAll(async () => {
  await browser.close();
  await Promise.all([postgres.close(), redis.close()]);
});

const ACT = { source: TOLD.haltedEvent.source, id: TOLD.haltedEvent.id };

test("while Redis is away pages show what Postgres knows, and say so; the fleet page follows it back by itself", async () => {
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.getByText("live,").waitFor();
  redis.cut();
  await page.getByText("Queues cannot be read: Redis does not answer").waitFor();
  await page.getByText("Lanes cannot be read: Redis does not answer").waitFor();
  await page.getByText("Redis cannot be read: it does not answer").waitFor();
  expect(
    await page.locator(".figure", { hasText: "Halted orders" }).locator(".figure-value").innerText(),
  ).toBe("1");

  const other = await page.context().newPage();
  await other.goto(`/order?lcid=${TOLD.order}`);
  expect(await other.locator("main").innerText()).toContain("The lane cannot be read: Redis does not answer");
  expect(await other.locator(".timeline > li").count()).toBe(9);
  await other.goto("/dead?outcome=jobs");
  expect(await other.locator("main").innerText()).toContain("Redis does not answer");
  await other.goto("/search?q=no-such-thing");
  const found = await other.locator("main").innerText();
  expect(found).toContain("which orders stand in line is not known");
  expect(found).not.toContain("No order has that name");
  await other.goto(`/event?${new URLSearchParams(ACT).toString()}`);
  expect(await other.locator("h1").innerText()).toBe(ACT.id);
  await other.goto("/doctor");
  expect(await other.locator("main").innerText()).toContain("Redis cannot be asked: Redis is out of reach");
  for (const path of ["/queues", "/queues/act", "/queues/look"]) {
    const answer = await other.goto(path);
    const told = await other.locator("main").innerText();
    expect([path, answer?.status(), told]).toEqual([
      path,
      503,
      expect.stringContaining("Redis does not answer"),
    ]);
  }
  expect((await other.request.get("/queues/act/api/queues")).status()).toBe(503);

  redis.heal();
  await page.locator("#lanes tbody tr").first().waitFor();
  await page.locator("#backlog tbody tr").first().waitFor();
});

test("while Postgres is away pages show what Redis knows, lists say so, and nothing is done that cannot be noted", async () => {
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.getByText("live,").waitFor();
  const cookie = await junban.logIn("olga");
  const token = await junban.formToken(cookie);
  postgres.cut();
  await page.getByText("Postgres cannot be read").waitFor();
  expect(await page.locator("#lanes tbody tr").count()).toBe(5);

  const other = await page.context().newPage();
  for (const path of [
    "/held",
    "/dead",
    "/halted",
    "/parked",
    "/actions",
    "/search?q=x",
    "/event?source=x&id=x",
  ]) {
    const answer = await other.goto(path);
    expect([path, answer?.status()]).toEqual([path, 503]);
    expect(await other.locator("main").innerText()).toMatch(/Postgres (?:does not answer|cannot answer)/u);
  }
  await other.goto("/doctor");
  expect(await other.locator("main").innerText()).toContain("Postgres cannot be asked");
  await other.goto(`/order?lcid=${TOLD.laneHolder}`);
  expect(await other.locator("main").innerText()).toContain("The order cannot be read");
  expect(await other.locator(".lane tbody tr").count()).toBe(20);
  const refused = await junban.ask("/acts/replay", { cookie, form: { ...ACT, token } });
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining("so it was not done")]);

  postgres.heal();
  await page.getByText("Postgres cannot be read").waitFor({ state: "detached" });
});

test("a console that starts while both are away serves, and shows them as they come", async () => {
  redis.cut();
  postgres.cut();
  const early = await startConsole({ ...place, databaseUrl: postgres.url, redisUrl: redis.url });
  const cookie = await early.logIn("vera");
  const away = (await early.ask("/", { cookie })).text;
  expect(away).toContain("Redis does not answer");
  expect(away).toContain("it does not answer");
  redis.heal();
  postgres.heal();
  await expect
    .poll(async () => (await early.ask("/", { cookie })).text, { timeout: 20_000 })
    .toContain(TOLD.laneHolder);
});
