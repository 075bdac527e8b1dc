import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createPublisher } from "@junban/event-queues";
import { migrate } from "@junban/order-store";
import { tellStories } from "@junban/order-stories";
import { startSandbox } from "@junban/sandbox";
import { Crew } from "@junban/trial";
import type { Page } from "playwright-core";
import { openBrowser, PHONE, visit } from "../browser-lab.ts";
import { openConsole } from "../console-process.ts";
import type { Place } from "../console-process.ts";
import { fillStage, TOLD } from "../stage.ts";

/**
 * The pictures of docs/console.md, taken of the real thing: throwaway servers, two workers, a stream of invented orders, and the
 * troubles of the stage. `npm run console:screenshots`
 */

const FOLDER = fileURLToPath(new URL("../../../docs/console/", import.meta.url));
const WORKER = fileURLToPath(new URL("../../../apps/worker/src/main.ts", import.meta.url));

async function main(): Promise<void> {
  const sandbox = await startSandbox();
  const place: Place = {
    databaseUrl: sandbox.postgres.url,
    redisUrl: sandbox.redis.url,
    prefix: "junban",
  };
  const crew = new Crew({
    program: WORKER,
    environmentOf: () => ({
      DATABASE_URL: place.databaseUrl,
      REDIS_URL: place.redisUrl,
      JUNBAN_RELAY: "on",
      // Slow on purpose: pictures of an idle fleet tell little.
      JUNBAN_COMMIT_PARALLEL: "1",
      JUNBAN_COMMIT_LANES: "1",
      JUNBAN_LANE_BATCH: "4",
    }),
    onTrouble: (error) => process.stderr.write(`${error.message}\n`),
  });
  const ending = new AbortController();
  try {
    await migrate({ databaseUrl: place.databaseUrl });
    await fillStage(place);
    let traffic = Promise.resolve();
    await takePictures(place, async () => {
      await Promise.all([crew.start(), crew.start()]);
      traffic = publishFor(place, ending.signal);
    });
    ending.abort();
    await traffic;
  } finally {
    ending.abort();
    await crew.stop();
    await sandbox.stop();
  }
}

async function publishFor({ redisUrl }: Place, signal: AbortSignal): Promise<void> {
  const publisher = createPublisher({ redis: redisUrl });
  try {
    for (let seed = 100; !signal.aborted; seed += 1) {
      const stories = tellStories({ seed, orders: 60, hotOrder: { events: 300, lcid: `HOT-${seed}` } });
      const events = stories.map(({ event }) => ({
        ...event,
        id: `${event.id}-${seed}`,
        lcid: `${event.lcid}-${seed}`,
      }));
      for (let start = 0; start < events.length && !signal.aborted; start += 40) {
        await publisher.publishAll(events.slice(start, start + 40));
        await sleep(150, undefined, { signal }).catch(() => undefined);
      }
    }
  } finally {
    await publisher.close();
  }
}

async function takePictures(place: Place, startFleet: () => Promise<void>): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const junban = await openConsole(place, { JUNBAN_CONSOLE_REFRESH_MS: "1000" });
  const browser = await openBrowser();
  try {
    const size = { width: 1_180, height: 760 };
    const { page } = await visit(browser, { to: junban, name: "olga", viewport: size });
    await page.setViewportSize({ ...size, height: 1_500 });
    await page.goto(`/order?lcid=${TOLD.order}`);
    await shoot(page, "order");
    await page.setViewportSize(size);
    await startFleet();
    await page.goto("/");
    await page.getByText("live,").waitFor();
    // Long enough for a line to be drawn of how fast it goes.
    await sleep(20_000);
    await shoot(page, "fleet");
    await page.goto(`/order?lcid=${TOLD.halted}`);
    await page.locator("summary", { hasText: "Drop evt-cursed" }).click();
    await shoot(page, "halted");
    await page.getByRole("button", { name: `Replay ${TOLD.haltedEvent.id}` }).click();
    await page.getByRole("status").waitFor();
    await page.goto("/actions");
    await shoot(page, "actions");
    const dark = await visit(browser, { to: junban, name: "vera", viewport: PHONE, colorScheme: "dark" });
    await dark.page.getByText("live,").waitFor();
    await shoot(dark.page, "phone");
  } finally {
    await browser.close();
    await junban.tree.stop({ signal: "SIGTERM" });
  }
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${FOLDER}${name}.png` });
  process.stdout.write(`docs/console/${name}.png\n`);
}

await main();
