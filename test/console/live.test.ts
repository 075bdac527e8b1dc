import { createLanes } from "@junban/handoff-lock";
import { requestOf } from "@junban/orders";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { openBrowser, PROVIDED_WITHIN_MS, visit } from "./browser-lab.ts";
import { consoleOfFile, freshPlace, startConsole } from "./console-lab.ts";
import { event } from "./stage.ts";

/** The page that follows the fleet, while people use it and while the console is out of reach. */

const place = await freshPlace();
const junban = await consoleOfFile(place);
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
  await stand("L-1", 1);
}, PROVIDED_WITHIN_MS);
afterAll(async () => browser.close());

async function stand(lcid: string, count: number): Promise<void> {
  const lanes = createLanes({ redis: freshRedis().connect(), prefix: place.prefix });
  const requests = Array.from({ length: count }, () => requestOf(event(lcid, "cancel.confirmed", {})));
  await lanes.queue(lcid, requests);
  await lanes.close();
}

async function clearLanes(): Promise<void> {
  const redis = freshRedis().connect();
  for await (const keys of redis.scanStream({ match: `${place.prefix}:*` }) as AsyncIterable<string[]>) {
    if (keys.length > 0) await redis.unlink(...keys);
  }
}

async function depthOf(page: Page, lcid: string): Promise<string> {
  return page.locator("#lanes tr", { hasText: lcid }).locator(".depth").innerText();
}

test("figures go on while something in them has the focus, which stays on what leads to the same place", async () => {
  const { page, complaints } = await visit(browser, { to: junban, name: "olga" });
  await page.getByText("live,").waitFor();
  await page.getByRole("link", { name: "L-1" }).focus();
  const before = Number(await depthOf(page, "L-1"));
  await stand("L-1", 1);
  await stand("L-2", 9);
  await expect.poll(async () => Number(await depthOf(page, "L-1"))).toBe(before + 1);
  await page.getByRole("link", { name: "L-2" }).waitFor();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("L-1");
  expect(complaints).toEqual([]);
});

test("the focus stays in its part when what had it is gone", async () => {
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.getByText("live,").waitFor();
  await stand("GONE", 1);
  await page.getByRole("link", { name: "GONE" }).focus();
  await clearLanes();
  await page.getByText("No order has anything in its line").waitFor();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("lanes");
});

test("what is being pressed is there until it is let go, and the clock stands as long", async () => {
  await stand("PRESSED", 1);
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.getByText("live,").waitFor();
  const link = page.getByRole("link", { name: "PRESSED" });
  await link.hover();
  await page.mouse.down();
  const moment = await page.locator("#moment").innerText();
  await stand("LATER", 9);
  const other = await page.context().newPage();
  await other.goto("/");
  await other.getByRole("link", { name: "LATER" }).waitFor();
  await expect.poll(async () => other.locator("#moment").innerText()).not.toBe(moment);
  expect(await page.locator("#moment").innerText()).toBe(moment);
  expect(await page.getByRole("link", { name: "LATER" }).count()).toBe(0);
  await page.mouse.up();
  await page.getByRole("heading", { name: "PRESSED" }).waitFor();
});

test("a page whose console has gone silent says since when, and follows it again by itself", async () => {
  const frozen = await startConsole(place);
  const { page } = await visit(browser, { to: frozen, name: "olga" });
  await page.getByText("live,").waitFor();
  frozen.tree.signal("SIGSTOP");
  await page.getByText("nothing heard since").waitFor({ timeout: 20_000 });
  const moment = await page.locator("#moment").innerText();
  frozen.tree.signal("SIGCONT");
  await page.getByText("live,").waitFor({ timeout: 20_000 });
  await expect.poll(async () => page.locator("#moment").innerText()).not.toBe(moment);
});

test("a page beyond those that may follow the fleet says why it does not, and what would help", async () => {
  const cookie = await junban.logIn("zoe");
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const open = async () => fetch(`${junban.url}/live`, { headers: { cookie }, signal: ending.signal });
  // Each is kept: an answer that nothing refers to is collected, and its stream ends with it.
  const streams: Response[] = [];
  onTestFinished(() => void streams.splice(0));
  for (let at = 1; at <= 8; at += 1) streams.push(await open());
  expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  const { page } = await visit(browser, { to: junban, name: "zoe" });
  await page.getByText("too many pages follow the fleet, close some and load this one again").waitFor();
});
