import { createQueueReader } from "@junban/event-queues";
import { createOrderStore } from "@junban/order-store";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBrowser, PROVIDED_WITHIN_MS, visit } from "./browser-lab.ts";
import { consoleOfFile, freshPlace } from "./console-lab.ts";
import { applyAll, event, fillStage, placed, storeAt, TOLD } from "./stage.ts";

const place = await freshPlace();
await fillStage(place);
const junban = await consoleOfFile(place);
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
}, PROVIDED_WITHIN_MS);
afterAll(async () => browser.close());

/** As the fleet's own store, in which nothing is cursed. */
function openStore() {
  const store = createOrderStore({ databaseUrl: place.databaseUrl, worker: "test" });
  onTestFinished(async () => store.close());
  return store;
}

async function noticeOn(page: Page): Promise<string> {
  return page.getByRole("status").innerText();
}

test("an operator replays a failed event: its order goes on, with what had waited behind it, and it is on record", async () => {
  const store = openStore();
  expect(await store.readOrder(TOLD.halted)).toMatchObject({ halted: true, version: 1 });
  const { page, complaints } = await visit(browser, { to: junban, name: "olga" });
  await page.goto("/halted");
  await page.getByRole("link", { name: TOLD.halted }).click();
  await page.getByRole("button", { name: `Replay ${TOLD.haltedEvent.id}` }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("status").waitFor();
  await expect.poll(async () => page.evaluate(() => document.activeElement?.role)).toBe("status");
  expect(await noticeOn(page)).toBe(
    `Done: replay /payments ${TOLD.haltedEvent.id}. Applied, version 2 of ${TOLD.halted}; 2 blocked events were decided after it.`,
  );
  expect(await store.readOrder(TOLD.halted)).toMatchObject({
    halted: false,
    version: 4,
    capturedMinor: 2_000,
  });
  const [action] = await store.listActions({ limit: 1 });
  expect(action).toMatchObject({
    who: "olga",
    act: "replay",
    target: `/payments ${TOLD.haltedEvent.id}`,
    reason: null,
    result: "done",
  });
  const line = await junban.tree.waitForLine("an operator acted", { withinMs: 5_000 });
  const says = expect.stringContaining("version 2") as string;
  expect(JSON.parse(line)).toMatchObject({ who: "olga", act: "replay", result: "done", says });
  expect(complaints).toEqual([]);
});

test("what was done is told once: loading the page again tells nothing", async () => {
  const { page } = await visit(browser, { to: junban, name: "olga" });
  const store = openStore();
  const id = await store.beginAction({ who: "olga", act: "replay", target: "/payments evt-told" });
  await store.endAction({ id, result: "done", detail: "applied" });
  await page.goto(`/dead?outcome=rejected&told=${id}`);
  expect(await noticeOn(page)).toBe("Done: replay /payments evt-told. Applied.");
  await page.reload();
  expect(page.url()).toMatch(/\/dead\?outcome=rejected$/u);
  expect(await page.getByRole("status").count()).toBe(0);
});

test("an operator drops a held event by keyboard, and not without a reason, which is kept with it", async () => {
  const store = openStore();
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.goto(`/order?lcid=${TOLD.held}`);
  await page.locator("summary", { hasText: "Drop evt-early" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  // The browser asks for the reason; nothing was sent.
  expect(await page.evaluate(() => document.querySelector("input[name=reason]:invalid") !== null)).toBe(true);
  expect(await store.readEvent({ source: "/payments", id: "evt-early" })).toMatchObject({
    outcome: "deferred",
  });
  await page.keyboard.type("paid twice, says the bank");
  await page.keyboard.press("Enter");
  await page.getByRole("status").waitFor();
  expect(await noticeOn(page)).toContain("Done: drop /payments evt-early.");
  expect(await store.readEvent({ source: "/payments", id: "evt-early" })).toMatchObject({
    outcome: "rejected",
    detail: expect.stringContaining("paid twice, says the bank") as string,
  });
  await page.goto("/actions");
  const row = await page.locator("tbody tr").first().innerText();
  expect(row.replaceAll(/\s+/gu, " ")).toMatch(
    /olga drop \/payments evt-early paid twice, says the bank done/u,
  );
});

test("what somebody else was faster with is refused, changes nothing, and is told", async () => {
  const cookie = await junban.logIn("olga");
  const token = await junban.formToken(cookie);
  const form = { token, source: "/payments", id: "evt-early", back: "/held" };
  const answer = await junban.ask("/acts/replay", { cookie, form: { ...form, id: "evt-none" } });
  const told = await junban.ask(answer.headers.get("location") ?? "", { cookie });
  expect(answer.headers.get("location")).toMatch(/^\/held\?told=\d+$/u);
  expect(told.text).toContain("Nothing was changed: replay /payments evt-none.");
  const other = await junban.ask(answer.headers.get("location") ?? "", {
    cookie: await junban.logIn("vera"),
  });
  expect(other.text).not.toContain("Nothing was changed");
});

test("an operator puts a dead job, whose data are shown as text, back into its queue", async () => {
  const queues = createQueueReader({ redis: place.redisUrl, prefix: place.prefix });
  onTestFinished(async () => queues.close());
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.goto("/dead?outcome=jobs");
  await page.locator("summary", { hasText: "characters" }).click();
  expect(await page.locator("pre").innerText()).toContain("<b>not an event</b>");
  await page.getByRole("button", { name: `Replay ${TOLD.deadJob}` }).click();
  await page.getByRole("status").waitFor();
  expect(await noticeOn(page)).toContain("It is back in its queue.");
  expect((await queues.counts()).payment).toMatchObject({ failed: 0, waiting: 1 });
});

test("an operator gives a parked update back to the relay", async () => {
  const store = openStore();
  const [parked] = await store.listParked({ limit: 1 });
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.goto("/parked");
  await page.getByRole("button", { name: `Give back ${parked?.id}` }).click();
  await page.getByRole("status").waitFor();
  expect(await noticeOn(page)).toContain("The relay has it again.");
  expect(await store.listParked({ limit: 1 })).toEqual([]);
  expect(await store.listActions({ limit: 1 })).toMatchObject([
    { act: "give back", target: `parked update ${parked?.id}`, result: "done" },
  ]);
});

test("an alert is acknowledged with a reason and stands no more", async () => {
  const own = storeAt(place);
  onTestFinished(async () => own.close());
  const sale = (captureId: string, authorizationId: string | null) =>
    event(
      "S-6006",
      "payment.captured",
      { captureId, authorizationId, amount: 900, currency: "EUR" },
      { source: "/payments", id: `evt-${captureId}` },
    );
  const authorized = event("S-6006", "payment.authorized", {
    authorizationId: "a-1",
    amount: 900,
    currency: "EUR",
  });
  await applyAll(own, [placed("S-6006"), authorized, sale("first", "a-1"), sale("again", "a-1")]);
  expect((await own.readOrder("S-6006"))?.alerts).toHaveLength(1);
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.goto("/order?lcid=S-6006");
  await page.locator("summary", { hasText: "Acknowledge" }).click();
  await page.getByLabel("Reason").fill("refunded by hand");
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await page.getByRole("status").waitFor();
  expect(await noticeOn(page)).toBe("Done: acknowledge /payments evt-again. The alert is acknowledged.");
  expect((await own.readOrder("S-6006"))?.alerts).toEqual([]);
  expect(await own.listActions({ limit: 1 })).toMatchObject([
    { act: "acknowledge", target: "/payments evt-again", reason: "refunded by hand", result: "done" },
  ]);
});

test("what an operator does to the raw queues is on record too, and another page can do nothing to them", async () => {
  const store = openStore();
  const cookie = await junban.logIn("olga");
  const pause = "/queues/act/api/queues/%7Bcancel%7D/pause";
  const answer = await junban.ask(pause, { cookie, method: "PUT" });
  expect(answer.status).toBe(200);
  const [action] = await store.listActions({ limit: 1 });
  expect(action).toMatchObject({ who: "olga", act: "change queues", target: `PUT ${pause}` });
  // The fleet page shows a look that may be a moment old.
  await expect
    .poll(async () => (await junban.ask("/", { cookie })).text)
    .toMatch(/cancel\s*<span class="chip wait">paused/u);
  // Another page could not have asked: its origin is not ours.
  const foreign = { origin: "https://evil.example" };
  const resume = pause.replace("pause", "resume");
  expect((await junban.ask(resume, { cookie, method: "PUT", headers: foreign })).status).toBe(403);
});
