import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, PROVIDED_WITHIN_MS, PHONE, visit } from "./browser-lab.ts";
import { consoleOfFile, freshPlace } from "./console-lab.ts";
import { applyAll, event, placed, storeAt } from "./stage.ts";

/** Each would set `window.harmed` where it is taken for more than text. */
const SCRIPT = `"'><script>window.harmed=1</script><img src=x onerror="window.harmed=2">`;
const LCID = "javascript:alert@1/../..";
/** Turns what stands behind it round, hides, and runs from right to left. */
const TURNED = { source: "/shop", id: "evt-\u202egpj\u200b.\u05d0\u05d1\u2069" };
const LONG = `A-${"9".repeat(120)}`;

const place = await freshPlace();
const store = storeAt(place);
await applyAll(store, [
  event(
    LCID,
    "order.placed",
    {
      currency: "JPY",
      adjustment: 0,
      shipGate: "captured",
      lines: [{ lineId: "1", sku: "<b>tea</b>", quantity: 1, unitAmount: 10 }],
      note: SCRIPT,
    },
    { source: `/shop${SCRIPT}`, id: `placed${SCRIPT}` },
  ),
  event(LCID, `${SCRIPT}.unknown`, { note: `${SCRIPT}</pre>` }, { source: `/shop${SCRIPT}`, id: SCRIPT }),
  event(
    LCID,
    "payment.failed",
    { stage: "capture", ref: "cursed", code: SCRIPT },
    { source: SCRIPT, id: "f-1" },
  ),
  placed("TURNED"),
  event("TURNED", "payment.failed", { stage: "capture", ref: "cursed", code: TURNED.id }, TURNED),
  placed(LONG),
  event(LONG, "x".repeat(256), {}, { source: `/${"s".repeat(255)}`, id: "i".repeat(256) }),
]);
await store.drop({ source: `/shop${SCRIPT}`, id: SCRIPT, reason: SCRIPT }).catch(() => undefined);
const action = await store.beginAction({ who: SCRIPT, act: "drop", target: SCRIPT, reason: SCRIPT });
await store.endAction({ id: action, result: "failed", detail: SCRIPT });
await store.close();
const junban = await consoleOfFile(place);
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
}, PROVIDED_WITHIN_MS);
afterAll(async () => browser.close());

const query = (values: Record<string, string>): string => new URLSearchParams(values).toString();
const PAGES = [
  "/",
  `/order?${query({ lcid: LCID })}`,
  `/order?${query({ lcid: LONG })}`,
  `/event?${query({ source: `/shop${SCRIPT}`, id: SCRIPT })}`,
  `/event?${query({ source: SCRIPT, id: "f-1" })}`,
  `/event?${query(TURNED)}`,
  "/order?lcid=TURNED",
  `/search?${query({ q: TURNED.id, source: "/none" })}`,
  "/held",
  "/dead",
  "/dead?outcome=rejected",
  `/dead?${query({ outcome: "rejected", reason: SCRIPT })}`,
  "/halted",
  "/doctor",
  "/actions",
  `/search?${query({ q: SCRIPT })}`,
  `/search?${query({ q: "nothing", source: SCRIPT })}`,
  `/held?${query({ within: SCRIPT })}`,
  `/${encodeURIComponent(SCRIPT)}`,
];

test("whatever stands in a field is shown as the text it is, on every page", async () => {
  const { page } = await visit(browser, { to: junban, name: "olga" });
  const stranger = await visit(browser, { to: junban });
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const look = async (at: Page, path: string): Promise<void> => {
    await at.goto(path);
    const found = await at.evaluate(() => ({
      harmed: Reflect.get(globalThis, "harmed") as unknown,
      scripts: [...document.querySelectorAll("script")].map(({ src }) => new URL(src).pathname),
      strangers: document.querySelectorAll("main img:not([alt='']), main b, main script").length,
      handlers: document.querySelectorAll("[onerror], [onclick], [style]").length,
    }));
    expect([path, found]).toEqual([
      path,
      { harmed: undefined, scripts: ["/assets/console.js"], strangers: 0, handlers: 0 },
    ]);
  };
  for (const path of PAGES) await look(page, path);
  await look(stranger.page, `/login?${query({ next: `/${SCRIPT}` })}`);
  await stranger.page.getByLabel("Name").fill(SCRIPT);
  await stranger.page.getByLabel("Password").fill(SCRIPT);
  await stranger.page.getByRole("button").click();
  await stranger.page.getByRole("alert").waitFor();
  expect(await stranger.page.getByLabel("Name").inputValue()).toBe(SCRIPT.slice(0, 64));
  expect(await stranger.page.evaluate(() => Reflect.get(globalThis, "harmed") as unknown)).toBeUndefined();
  expect(dialogs).toEqual([]);
});

test("the text itself is there to be read, letter by letter", async () => {
  const { page } = await visit(browser, { to: junban, name: "olga" });
  await page.goto(`/event?${query({ source: `/shop${SCRIPT}`, id: SCRIPT })}`);
  expect(await page.locator("h1").innerText()).toBe(SCRIPT);
  expect(await page.locator("pre").innerText()).toContain("</pre>");
  await page.goto(`/order?${query({ lcid: LCID })}`);
  expect(await page.locator("h1").innerText()).toBe(LCID);
  // Every link leads to a page of the console, whatever a name looks like.
  const links = await page
    .locator("a[href]")
    .evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).href));
  expect(links.filter((href) => !href.startsWith(junban.url))).toEqual([]);
});

test("what hides or turns text round is seen for what it is on every page, and is acted on by its own name", async () => {
  const { page } = await visit(browser, { to: junban, name: "olga" });
  for (const path of PAGES) {
    await page.goto(path);
    const text = await page.evaluate(() => document.title + document.body.innerText);
    expect([path, text.match(/\p{Cf}/gu)]).toEqual([path, null]);
  }
  await page.goto(`/event?${query(TURNED)}`);
  await page.getByRole("button", { name: "Replay" }).click();
  const notice = page.getByRole("status");
  expect(await notice.innerText()).toMatch(
    /^Done: replay \/shop evt-\\u202egpj\\u200b\.אב\\u2069\. Applied/u,
  );
  expect(await notice.locator("bdi").innerText()).toContain("evt-");
});

test("a script that came in through a field would not run if it were one", async () => {
  const { page, complaints } = await visit(browser, { to: junban, name: "olga" });
  await page.evaluate(() => {
    const image = document.createElement("div");
    image.innerHTML = '<img src="/nowhere.png" onerror="window.harmed = 1">';
    document.body.append(image);
    const script = document.createElement("script");
    script.textContent = "window.harmed = 2";
    document.body.append(script);
  });
  await expect
    .poll(() => complaints.filter((text) => text.includes("Content Security Policy")).length)
    .toBeGreaterThan(1);
  expect(await page.evaluate(() => Reflect.get(globalThis, "harmed") as unknown)).toBeUndefined();
});

test.each([PHONE.width, 900, 1_200, 1_280, 1_408])(
  "names as long as they may be make no page wider than a screen of %i",
  async (width) => {
    const viewport = { width, height: 812 };
    const { page } = await visit(browser, { to: junban, name: "olga", viewport });
    for (const path of PAGES) {
      await page.goto(path);
      const [needed, given] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      expect([path, needed]).toEqual([path, given]);
    }
  },
);
