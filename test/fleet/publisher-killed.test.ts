import { fileURLToPath } from "node:url";
import { startProcess, startProxy } from "@junban/sandbox";
import type { ProxyDirection } from "@junban/sandbox";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import {
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  poolOf,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "./worker-lab.ts";
import type { Place } from "./worker-lab.ts";

const LIMIT_MS = 120_000;
const PROGRAM = fileURLToPath(new URL("publish-once.process.ts", import.meta.url));

interface Step {
  readonly when: string;
  /** On their way in this direction are, when the publisher dies, … */
  readonly dies: ProxyDirection;
  /** … the bytes that put its events in line, or that add their jobs, or the answers to them. */
  readonly at: "lane" | "jobs";
  /** What Redis then has of the order: requests, its placement included, and jobs of payments. */
  readonly left: { readonly standing: number; readonly jobs: number };
}

const STEPS: readonly Step[] = [
  { when: "before their place in line", dies: "toServer", at: "lane", left: { standing: 1, jobs: 0 } },
  { when: "before it hears of their place", dies: "toClient", at: "lane", left: { standing: 3, jobs: 0 } },
  {
    when: "between their place and their jobs",
    dies: "toServer",
    at: "jobs",
    left: { standing: 3, jobs: 0 },
  },
  { when: "before it hears of their jobs", dies: "toClient", at: "jobs", left: { standing: 3, jobs: 2 } },
];

describe("a publisher that is killed", () => {
  let place: Place;
  beforeAll(async () => {
    place = await freshPlace();
  });

  async function leftOf(lcid: string): Promise<Step["left"]> {
    const redis = freshRedis().connect();
    try {
      const [standing, waiting, prioritized] = await Promise.all([
        redis.llen(`${place.prefix}:wait:{${lcid}}`),
        redis.llen(`${place.prefix}:{payment}:wait`),
        redis.zcard(`${place.prefix}:{payment}:prioritized`),
      ]);
      return { standing, jobs: waiting + prioritized };
    } finally {
      redis.disconnect();
    }
  }

  /**
   * A real process publishes two payments of an order that was placed before, through a proxy that kills it and ends its
   * connection exactly there. `arrived` is waited for before an answer is lost, so that there is one.
   */
  async function publishAndDie(
    lcid: string,
    { dies, at }: Step,
    arrived: () => Promise<void>,
  ): Promise<void> {
    await publish(place, eventsOf(lcid, 1));
    const says = { lane: `${place.prefix}:wait:{${lcid}}`, jobs: `${place.prefix}:{payment}:` };
    let kill = async (): Promise<void> => {};
    let reached = false;
    const proxy = await startProxy({
      url: place.redisUrl,
      onData: async (direction, chunk) => {
        if (direction === "toServer" && chunk.includes(says[at])) reached = true;
        if (!reached || direction !== dies) return "pass";
        if (dies === "toClient") await arrived();
        await kill();
        return "cut";
      },
    });
    onTestFinished(() => proxy.close());
    const events = JSON.stringify(eventsOf(lcid, 3).slice(1));
    const publisher = await startProcess({
      command: process.execPath,
      args: ["--import", "tsx", "--conditions", "@junban/source", PROGRAM, proxy.url, place.prefix, events],
    });
    kill = async () => void (await publisher.stop({ signal: "SIGKILL", graceMs: 0 }));
    onTestFinished(kill);
    expect(await publisher.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(publisher.stdout()).toBe("");
  }

  async function expectDecidedOnce(lcid: string): Promise<void> {
    await eventually(async () => (await rowsOf(place)).filter((row) => row.lcid === lcid).length === 3, {
      withinMs: 30_000,
    });
    await expectPublishOrder(place, [lcid], 3);
    const { rows } = await poolOf(place).query(
      "SELECT authorized_minor::int AS authorized, version::int FROM orders WHERE lcid = $1",
      [lcid],
    );
    expect(rows).toEqual([{ authorized: 20, version: 3 }]);
  }

  test.each(STEPS)(
    "$when, and whose events are published again: none is dropped and none doubled, served before that or after it",
    async (step) => {
      const [before, after] = [freshLcid(), freshLcid()];
      await publishAndDie(after, step, async () => {
        await eventually(async () => expect(await leftOf(after)).toEqual(step.left));
      });
      expect(await leftOf(after)).toEqual(step.left);
      await publish(place, eventsOf(after, 3).slice(1));
      // Each delivery has jobs of its own, and none a second place.
      expect(await leftOf(after)).toEqual({ standing: 3, jobs: step.left.jobs + 2 });
      const worker = await startWorker(place, SHORT_LEASE);
      await expectDecidedOnce(after);

      // Now somebody is there who serves what a dead publisher leaves behind.
      await publishAndDie(before, step, async () => {});
      if (step.left.standing > 1) await expectDecidedOnce(before);
      await publish(place, eventsOf(before, 3).slice(1));
      await expectDecidedOnce(before);
      await eventually(async () => expect(await leftOf(before)).toEqual({ standing: 0, jobs: 0 }));
      await expectDecidedOnce(before);
      await expectDecidedOnce(after);
      worker.tree.signal("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LIMIT_MS,
  );
});
