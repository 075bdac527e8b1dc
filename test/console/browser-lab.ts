import { findProgram } from "@junban/sandbox";
import { chromium } from "playwright-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { PROGRAMS } from "../support/programs.ts";
import type { Console } from "./console-process.ts";

/** How long a machine without the browser may take to install it. */
export const PROVIDED_WITHIN_MS = 400_000;

/** A browser of its own for whoever asks, who closes it. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findProgram(PROGRAMS.chromium),
    // Containers commonly have a small /dev/shm, and a root user for whom the browser's own sandbox does not start.
    args: ["--disable-dev-shm-usage", "--disable-gpu"],
    chromiumSandbox: false,
  });
}

export const PHONE = { width: 375, height: 812 } as const;
export const DESK = { width: 1_280, height: 860 } as const;

export interface Visit extends BrowserContextOptions {
  readonly to: Pick<Console, "url" | "logIn">;
  /** Who is logged in already; default nobody. */
  readonly name?: string;
}

/** A page in a window of its own, at the fleet or the door. Whatever the browser complains of is an error of the page. */
export async function visit(
  browser: Browser,
  { to, name, ...options }: Visit,
): Promise<{ page: Page; complaints: readonly string[] }> {
  const context = await browser.newContext({ baseURL: to.url, viewport: DESK, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  if (name !== undefined) {
    const [cookie = "", value = ""] = (await to.logIn(name)).split("=");
    await context.addCookies([{ name: cookie, value, url: to.url }]);
  }
  await page.goto("/");
  return { page, complaints };
}
