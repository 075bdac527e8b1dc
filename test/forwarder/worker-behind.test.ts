import { createOrderStore } from "@junban/order-store";
import { enqueueEvent } from "@junban/upstream-outbox";
import { expect, test } from "vitest";
import {
  eventsOf,
  expectPublishOrder,
  freshLcid,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "../fleet/worker-lab.ts";
import type { Place } from "../fleet/worker-lab.ts";
import { eventually, freshDatabase } from "../support/index.ts";
import { begun, end, enqueue, forwarderProcess, freshShop, startForwarder } from "../upstream-outbox/lab.ts";
import type { Shop } from "../upstream-outbox/lab.ts";

const LIMIT_MS = 180_000;
const COUNT = 20;

/** Each event of an order in a transaction of its own, behind one that takes back what it wrote. */
async function write(shop: Shop, lcid: string): Promise<void> {
  for (const event of eventsOf(lcid, COUNT)) {
    const undone = await begun(shop);
    await enqueueEvent(undone, { ...event, id: `${event.id}-undone` });
    await end(undone, "ROLLBACK");
    await enqueue(shop, [event]);
  }
}

async function expectSound({ databaseUrl }: Place, lcids: readonly string[]): Promise<void> {
  const store = createOrderStore({ databaseUrl, poolSize: 1, worker: "test" });
  try {
    for await (const finding of store.audit()) expect(finding.differences).toEqual([]);
    for (const lcid of lcids) expect(await store.readOrder(lcid)).toMatchObject({ version: COUNT });
  } finally {
    await store.close();
  }
}

test(
  "what producers committed is applied once and in the order of their commits, and nothing they took back, while forwarders and a worker are killed on the way",
  async () => {
    const shop = await freshShop();
    const { redisUrl, prefix } = shop;
    // The fleet has a database of its own.
    const place: Place = { databaseUrl: await freshDatabase(), redisUrl, prefix };
    const lcids = [freshLcid(), freshLcid(), freshLcid()];
    await Promise.all(lcids.map((lcid) => write(shop, lcid)));

    const victim = await startWorker(place, SHORT_LEASE);
    for (const dieAt of ["junban.forward.published", "junban.forward.marked"]) {
      const forwarder = await forwarderProcess(shop, { dieAt });
      expect(await forwarder.exited).toEqual({ code: null, signal: "SIGKILL" });
    }
    startForwarder(shop, { batch: 3 });
    await eventually(async () => (await rowsOf(place)).length > 6, { withinMs: 60_000 });
    victim.tree.signal("SIGKILL");
    await victim.exited;
    await startWorker(place, SHORT_LEASE);

    const all = lcids.length * COUNT;
    await eventually(async () => (await rowsOf(place)).length === all, { withinMs: 60_000 });
    await expectPublishOrder(place, lcids, COUNT);
    await expectSound(place, lcids);
  },
  LIMIT_MS,
);
