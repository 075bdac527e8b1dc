import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DESK, openBrowser, PROVIDED_WITHIN_MS, PHONE, visit } from "./browser-lab.ts";
import { consoleOfFile, freshPlace } from "./console-lab.ts";
import { fillStage, TOLD } from "./stage.ts";

const [busy, empty] = await Promise.all([freshPlace(), freshPlace()]);
await fillStage(busy);
const [junban, quiet] = await Promise.all([consoleOfFile(busy), consoleOfFile(empty)]);
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
}, PROVIDED_WITHIN_MS);
afterAll(async () => browser.close());

const PAGES = [
  "/",
  "/held",
  "/dead",
  "/dead?outcome=alerts",
  "/dead?outcome=rejected",
  "/dead?outcome=jobs",
  "/halted",
  "/parked",
  "/actions",
  "/doctor",
  `/order?lcid=${TOLD.order}`,
  `/order?lcid=${TOLD.halted}`,
  `/order?lcid=${TOLD.laneHolder}`,
  `/event?${new URLSearchParams(TOLD.haltedEvent).toString()}`,
  "/search?q=no-such-thing",
] as const;

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
    expect(await textOf(page)).toContain("No order has that name, decided or in line");
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
    "/parked": "Everything could be passed on",
    "/actions": "Nobody has done anything yet",
  };
  for (const [path, expected] of Object.entries(words)) {
    await page.goto(path);
    expect(await textOf(page)).toContain(expected);
  }
  expect(complaints).toEqual([]);
});

describe("every page", () => {
  test("fits a phone: nothing has to be pushed sideways", async () => {
    const { page } = await visit(browser, { to: junban, name: "olga", viewport: PHONE });
    for (const path of [...PAGES, "/queues/look"]) {
      await page.goto(path);
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("main details")) details.setAttribute("open", "");
      });
      const [needed, given] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      expect([path, needed]).toEqual([path, given]);
    }
  });

  test.each(["light", "dark"] as const)(
    "can be read in the %s: text stands out from what is behind it",
    async (colorScheme) => {
      const { page } = await visit(browser, { to: junban, name: "olga", colorScheme });
      const papers = new Set<string>();
      for (const path of PAGES) {
        await page.goto(path);
        papers.add(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor));
        expect([path, await page.evaluate(faintTexts)]).toEqual([path, []]);
      }
      expect([...papers]).toEqual([colorScheme === "light" ? "rgb(247, 246, 242)" : "rgb(22, 24, 29)"]);
    },
  );

  test("is walked by keyboard alone: a way past the head first, and what is focused is seen", async () => {
    const { page } = await visit(browser, { to: junban, name: "olga", viewport: DESK });
    await page.goto("/dead");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
    const names: string[] = [];
    for (let step = 0; step < 9; step += 1) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(() => {
        const element = document.activeElement;
        const style = element === null ? null : getComputedStyle(element);
        return {
          name: element?.textContent?.trim() ?? "",
          outline: `${style?.outlineStyle} ${style?.outlineWidth}`,
        };
      });
      expect(focused.outline).toMatch(/^solid [1-9]/u);
      names.push(focused.name);
    }
    expect(names.slice(0, 3)).toEqual(["Failed", "Open alerts", "Rejected"]);
    expect(names).toContain(TOLD.halted);
  });
});

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
