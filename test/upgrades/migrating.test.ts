import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  poolOf,
  publish,
  rowsOf,
  startWorker,
} from "../fleet/worker-lab.ts";
import type { Place } from "../fleet/worker-lab.ts";
import { eventually } from "../support/index.ts";
import { buildWith, junban, THIS_BUILD } from "./builds.ts";

/** What the next version adds: a column on each kind of table that workers write all the time, and a table of its own. */
const NEXT = "0999_next";
const ADDED = {
  [`migrations/${NEXT}.sql`]: `
    alter table orders add column remark text;
    alter table order_events add column region text not null default 'none';
    alter table outbox add column region text;
    create table order_remarks (lcid text collate "C" primary key, remark text not null);
  `,
};

/** Publishes to the same orders, again and again, until it is stopped; then says how many events each of them got. */
class Stream {
  readonly lcids = Array.from({ length: 10 }, () => freshLcid());
  readonly #place: Place;
  readonly #running: Promise<void>;
  #count = 0;
  #stopped = false;

  constructor(place: Place) {
    this.#place = place;
    this.#running = this.#run();
  }

  async stop(): Promise<number> {
    this.#stopped = true;
    await this.#running;
    return this.#count;
  }

  /** Every event that has been published up to now gets its row. */
  async flows(): Promise<void> {
    const wanted = (this.#count + 2) * this.lcids.length;
    await eventually(async () => (await rowsOf(this.#place)).length >= wanted, { withinMs: 30_000 });
  }

  async #run(): Promise<void> {
    for (; !this.#stopped; this.#count += 1) {
      const round = this.lcids.flatMap((lcid) => eventsOf(lcid, this.#count + 1).slice(this.#count));
      await publish(this.#place, round);
    }
  }
}

/** Somebody who changed a row and then forgot to end the transaction. */
async function idleWriter(place: Place, lcid: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: place.databaseUrl });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(async () => client.end());
  await client.query("BEGIN");
  await client.query("INSERT INTO orders (lcid) VALUES ($1)", [lcid]);
  return async () => void (await client.query("ROLLBACK"));
}

test("workers go on while a newer build migrates: behind an idle transaction that gives up soon and says why, then it works, and old and new run side by side", async () => {
  const place = await freshPlace();
  const next = await buildWith({ added: ADDED });
  const old = await startWorker(place);
  const stream = new Stream(place);
  await stream.flows();

  const letGo = await idleWriter(place, freshLcid());
  const refused = await junban(next, place, ["migrate"]);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toContain(`migration ${NEXT} failed: another transaction uses a table that it needs`);
  expect(refused.err).toContain("nothing was changed");
  await stream.flows();
  await letGo();

  const both = await Promise.all([junban(next, place, ["migrate"]), junban(next, place, ["migrate"])]);
  for (const { code, err } of both) expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(both.map(({ out }) => out.trim())).toContain(`applied: ${NEXT}`);
  await stream.flows();

  const anotherOld = await startWorker(place);
  const newer = await startWorker(place, {}, next);
  const again = await junban(THIS_BUILD, place, ["migrate"]);
  expect(again).toMatchObject({ code: 0, err: "" });
  expect(again.out).toContain(`the schema is newer than this build, which does not know ${NEXT}`);
  await stream.flows();

  const count = await stream.stop();
  await eventually(async () => (await rowsOf(place)).length === count * stream.lcids.length, {
    withinMs: 30_000,
  });
  await expectPublishOrder(place, stream.lcids, count);
  for (const build of [THIS_BUILD, next]) expect((await junban(build, place, ["audit"])).code).toBe(0);
  const { rows } = await poolOf(place).query("SELECT DISTINCT region FROM order_events");
  expect(rows).toEqual([{ region: "none" }]);
  for (const worker of [old, anotherOld, newer]) {
    expect(worker.tree.stdout()).not.toMatch(/"level":"(?:error|fatal)"/);
    worker.tree.signal("SIGTERM");
    expect(await worker.exited).toEqual({ code: 0, signal: null });
  }
}, 300_000);
