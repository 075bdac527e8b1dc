import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DESK, openBrowser, PROVIDED_WITHIN_MS, PHONE, visit } from "./browser-lab.ts";
import type { Visit } from "./browser-lab.ts";
import { consoleOfFile, freshPlace } from "./console-lab.ts";
import { EVERY_PAGE } from "./every-page.ts";
import { fillStage, TOLD } from "./stage.ts";

const [busy, empty] = await Promise.all([freshPlace(), freshPlace()]);
await fillStage(busy);
const [junban, quiet] = await Promise.all([consoleOfFile(busy), consoleOfFile(empty)]);
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
}, PROVIDED_WITHIN_MS);
afterAll(async () => browser.close());

async function textOf(page: Page): Promise<string> {
  return page.locator("main").innerText();
}

describe("a busy fleet", () => {
  test("is seen at a glance: speed, delay, what waits and what needs people", async () => {
    const { page, complaints } = await visit(browser, { to: junban, name: "olga" });
    const figure = (name: string) =>
      page
        .locator(".figure", { has: page.getByText(name, { exact: true }) })
        .locator(".figure-value")
        .innerText();
    expect(await figure("Halted orders")).toBe("1");
    expect(await figure("Failed events")).toBe("1");
    expect(await figure("Parked")).toBe("1");
    expect(await figure("Workers")).toBe("0");
    expect(Number(await figure("Held"))).toBeGreaterThan(2);
    expect(await figure("Publish to decision")).toMatch(/^[\d.]+ (?:ms|s)$/u);
    const deepest = page.locator("#lanes tbody tr").first();
    expect(await deepest.innerText()).toContain(TOLD.laneHolder);
    expect(await deepest.innerText()).toContain("42");
    expect(await page.locator("#backlog tbody tr").first().innerText()).toMatch(/payment\s+0\s+0\s+1\s+1/u);
    expect(complaints).toEqual([]);
  });

  test("shows one order: statuses, money with its currency's digits, what is due, lines, what is held, its lane", async () => {
    const { page, complaints } = await visit(browser, { to: junban, name: "vera" });
    await page.goto(`/order?lcid=${TOLD.order}`);
    const text = await textOf(page);
    for (const part of ["in fulfilment", "refund due", "1 held", "63.90", "34.00 EUR", "TEA-SENCHA-100"]) {
      expect(text).toContain(part);
    }
    expect(text).toContain("EXCEEDS_ORDERED");
    expect(await page.locator(".lane tbody tr").count()).toBe(6);
    await page.goto(`/order?lcid=${TOLD.halted}`);
    expect(await textOf(page)).toContain("6,390");
    expect(complaints).toEqual([]);
  });

  test("tells an order's story: each event, newest first, and what it changed", async () => {
    const { page } = await visit(browser, { to: junban, name: "vera" });
    await page.goto(`/order?lcid=${TOLD.order}`);
    const told = await page.locator(".timeline > li").allInnerTexts();
    const plain = told.map((text) => text.replaceAll(/\s+/gu, " "));
    expect(plain).toHaveLength(9);
    expect(plain[0]).toContain("cancel.confirmed applied v8");
    expect(plain[0]).toContain("payment paid → refund due");
    expect(plain[0]).toContain("payable 63.90 → 29.90");
    expect(plain[0]).toContain("line 2 (CUP-HAGI) cancelled 0 → 1");
    // The capture came first and took effect behind its authorization.
    expect(plain[7]).toContain("payment.captured applied v3");
    expect(plain[7]).toContain("captured 0.00 → 63.90");
    expect(plain[6]).toContain("payment.authorized applied v2");
    expect(plain[8]).toContain("line 1 2 × TEA-SENCHA-100 at 12.50 EUR");
  });

  test("finds an order by its name, an event by its id, and either from every page", async () => {
    const { page } = await visit(browser, { to: junban, name: "vera" });
    const find = async (what: string): Promise<void> => {
      // The key is told once the page listens to it.
      await page.locator("[aria-keyshortcuts='/']").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type(what);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: what, exact: true }).waitFor();
    };
    await find(TOLD.order);
    await find(TOLD.haltedEvent.id);
    expect(await page.locator("pre").innerText()).toContain('"captureId": "cursed"');
    await page.goto("/search?q=no-such-thing");
    expect(await textOf(page)).toContain("No order has that name, decided, purged or in line");
  });
});

test("an empty fleet says so on every page", async () => {
  const { page, complaints } = await visit(browser, { to: quiet, name: "olga" });
  const words: Readonly<Record<string, string>> = {
    "/": "No order has anything in its line",
    "/held": "Nothing is held",
    "/dead": "No event has failed",
    "/dead?outcome=alerts": "No alert is open",
    "/dead?outcome=rejected": "No event was rejected",
    "/dead?outcome=jobs": "No job is dead",
    "/halted": "No order is halted",
    "/parked": "Nothing is parked. Every update has been passed on.",
    "/actions": "Nobody has done anything yet",
    "/order?lcid=S-1": "Nothing has been decided for this order",
    "/event?source=/shop&id=1": "No event of that source and id has been decided",
    "/search?q=S-1": "No order has that name, decided, purged or in line",
    "/doctor": "no queue was ever used under the prefix",
  };
  for (const [path, expected] of Object.entries(words)) {
    await page.goto(path);
    expect(await textOf(page)).toContain(expected);
  }
  // What is not there is no page, and a browser says so.
  expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
});

describe("every page", () => {
  const phone = { viewport: PHONE } as const;

  /** All of them, and those that people meet before they are known. */
  async function eachPage(
    options: Pick<Visit, "colorScheme" | "viewport">,
    look: (page: Page, path: string) => Promise<void>,
  ): Promise<void> {
    const known = await visit(browser, { to: junban, name: "olga", ...options });
    for (const path of EVERY_PAGE) {
      await known.page.goto(path);
      await look(known.page, path);
    }
    const stranger = await visit(browser, { to: junban, ...options });
    for (const path of ["/login", "/login?undone="]) {
      await stranger.page.goto(path);
      await look(stranger.page, path);
    }
    await stranger.page.getByLabel("Name").fill("nobody");
    await stranger.page.getByLabel("Password").fill("nothing");
    await stranger.page.getByRole("button").click();
    await stranger.page.getByRole("alert").waitFor();
    await look(stranger.page, "a login that failed");
  }

  async function widths(page: Page): Promise<readonly number[]> {
    return page.evaluate(() => {
      for (const details of document.querySelectorAll("main details")) details.setAttribute("open", "");
      return [document.documentElement.scrollWidth, document.documentElement.clientWidth];
    });
  }

  test("fits a phone: nothing has to be pushed sideways", async () => {
    await eachPage(phone, async (page, path) => {
      const [needed, given] = await widths(page);
      expect([path, needed]).toEqual([path, given]);
    });
    const { page } = await visit(browser, { to: junban, name: "olga", ...phone });
    await page.goto("/queues/look");
    const [needed, given] = await widths(page);
    expect(needed).toBe(given);
  });

  test.each(["light", "dark"] as const)(
    "of the console's own can be read in the %s: text stands out from what is behind it",
    async (colorScheme) => {
      const papers = new Set<string>();
      await eachPage({ colorScheme }, async (page, path) => {
        papers.add(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor));
        expect([path, await page.evaluate(faintTexts)]).toEqual([path, []]);
      });
      expect([...papers]).toEqual([colorScheme === "light" ? "rgb(247, 246, 242)" : "rgb(22, 24, 29)"]);
    },
  );

  test("says in which time it tells the time", async () => {
    const cookie = await junban.logIn("vera");
    for (const path of EVERY_PAGE) {
      const { text } = await junban.ask(path, { cookie });
      expect([path, text.includes("Times are in UTC.")]).toEqual([path, true]);
    }
  });

  test("is walked by keyboard alone: what can be used comes one after the other, and is seen when it has the focus", async () => {
    await eachPage({}, async (page, path) => {
      const seen = await walk(page);
      const unseen = seen.filter(({ outline }) => !/^solid [1-9]/u.test(outline));
      expect([path, unseen]).toEqual([path, []]);
      const usable = await page.evaluate(() => {
        const all = document.querySelectorAll("a[href], button, input, summary, [tabindex='0']");
        return [...all].filter((one) => one.checkVisibility() && one.getAttribute("type") !== "hidden")
          .length;
      });
      expect([path, new Set(seen.map(({ number }) => number)).size]).toEqual([path, usable]);
    });
  });

  test("has a way past its head, first of all", async () => {
    const { page } = await visit(browser, { to: junban, name: "olga", viewport: DESK });
    await page.goto("/dead");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
    const names: string[] = [];
    for (let step = 0; step < 9; step += 1) {
      await page.keyboard.press("Tab");
      names.push(await page.evaluate(() => document.activeElement?.textContent?.trim() ?? ""));
    }
    expect(names.slice(0, 3)).toEqual(["Failed", "Open alerts", "Rejected"]);
    expect(names).toContain(TOLD.halted);
  });
});

/** Goes through a page by the key for it, from wherever it begins, until it comes round. */
async function walk(page: Page): Promise<readonly { number: number; outline: string }[]> {
  const seen: { number: number; outline: string }[] = [];
  for (let step = 0; step < 400; step += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return {
        number: [...document.querySelectorAll("*")].indexOf(element),
        outline: `${outlineStyle} ${outlineWidth}`,
      };
    });
    if (focused !== null && focused.number === seen[0]?.number) return seen;
    if (focused !== null) seen.push(focused);
  }
  return seen;
}

/** Texts whose contrast is below WCAG's 4.5, as `text: contrast`. Runs in the page. */
function faintTexts(): string[] {
  const numbers = (color: string): number[] => (color.match(/[\d.]+/gu) ?? []).map(Number);
  const luminance = ([red = 0, green = 0, blue = 0]: number[]): number => {
    const [r = 0, g = 0, b = 0] = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  // Whatever form a colour is written in, a pixel has it as numbers.
  const pixel = (color: string): number[] => {
    if (canvas === null) return [];
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const behind = (element: Element | null): number[] => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (numbers(color).at(3) !== 0 && color !== "rgba(0, 0, 0, 0)") return pixel(color);
    }
    return [255, 255, 255];
  };
  const faint = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() !== null) {
    const text = walker.currentNode.textContent?.trim() ?? "";
    const element = walker.currentNode.parentElement;
    if (text === "" || element === null || element.closest(".unseen, .skip, .off, script") !== null) continue;
    if (element.getClientRects().length === 0) continue;
    const [one, other] = [luminance(pixel(getComputedStyle(element).color)), luminance(behind(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) faint.add(`${text.slice(0, 30)}: ${contrast.toFixed(2)}`);
  }
  return [...faint];
}
