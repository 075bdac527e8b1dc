import { expect, test } from "vitest";
import {
  authorized,
  eventOf,
  eventsOf,
  expectPublishOrder,
  freshLcid,
  freshPlace,
  idsOf,
  placed,
  poolOf,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "../fleet/worker-lab.ts";
import type { Envelope, Place, WorkerProcess } from "../fleet/worker-lab.ts";
import { eventually } from "../support/index.ts";
import { buildWith, buildWithout, junban, THIS_BUILD } from "./builds.ts";

/** One that can also read the second version of every payload, which happens to look like the first. */
async function buildOfVersionTwo() {
  const edits = [{ from: "const SCHEMA_VERSION = 1;", to: "const SCHEMA_VERSION = 2;" }];
  return buildWith({ edited: { "packages/orders/src/interpret.ts": edits } });
}

async function end({ tree, exited }: WorkerProcess): Promise<void> {
  tree.signal("SIGTERM");
  expect(await exited).toEqual({ code: 0, signal: null });
}

async function outcomesOf(place: Place, lcid: string): Promise<string[]> {
  const { rows } = await poolOf(place).query<{ said: string }>(
    "SELECT concat_ws(' ', outcome, reason, version) AS said FROM order_events WHERE lcid = $1 ORDER BY arrival",
    [lcid],
  );
  return rows.map(({ said }) => said);
}

/** Everything that the fleet keeps of an order's events, by arrival, and what it told of them downstream, by version. */
async function keptOf(place: Place, lcid: string): Promise<{ events: unknown[]; told: unknown[] }> {
  const pool = poolOf(place);
  const history = await pool.query<{ event: unknown }>(
    "SELECT event FROM order_events WHERE lcid = $1 ORDER BY arrival",
    [lcid],
  );
  const outbox = await pool.query<{ id: unknown }>(
    "SELECT payload -> 'event' ->> 'id' AS id FROM outbox WHERE lcid = $1 ORDER BY version",
    [lcid],
  );
  return { events: history.rows.map(({ event }) => event), told: outbox.rows.map(({ id }) => id) };
}

const reservation = (lcid: string): Envelope => ({
  ...eventOf(lcid, 1, {
    type: "inventory.reserved",
    data: { reservationId: "r-1", lineId: "L1", quantity: 2, shelf: { aisle: 7, bins: ["a", "b"] } },
  }),
  time: "2026-11-29T09:00:00Z",
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
});

/** Names the reservation, so that it cannot be decided without it. */
const release = (lcid: string): Envelope =>
  eventOf(lcid, 2, {
    type: "inventory.released",
    data: { releaseId: "x-1", reservationId: "r-1", quantity: 1, reason: "found broken" },
  });

test("an old worker holds what only a newer build can read, whole, and goes on with everything else; the newer one decides it under its own arrival", async () => {
  const place = await freshPlace();
  const [lcid, other] = [freshLcid(), freshLcid()];
  const oldBuild = await buildWithout(["inventory.reserved"]);
  const old = await startWorker(place, SHORT_LEASE, oldBuild);
  const events = [
    placed(lcid),
    reservation(lcid),
    release(lcid),
    authorized(lcid, { number: 3 }),
    { ...authorized(lcid, { number: 4 }), schemaversion: 2 },
  ];
  await publish(place, [...events, ...eventsOf(other, 20)]);
  await eventually(async () => (await rowsOf(place)).length === 25, { withinMs: 30_000 });
  await expectPublishOrder(place, [other], 20);
  expect(await outcomesOf(place, lcid)).toEqual([
    "applied 1",
    "deferred UNSUPPORTED",
    "deferred RESERVATION_NOT_SEEN",
    "applied 2",
    "deferred UNSUPPORTED",
  ]);

  // Side by side, either of them decides what both know; the old one still leads the sweep, so the rest waits for its end.
  const build = await buildOfVersionTwo();
  const newer = await startWorker(place, SHORT_LEASE, build);
  await publish(place, [authorized(lcid, { number: 5 })]);
  await eventually(async () => (await outcomesOf(place, lcid))[5] === "applied 3");
  await end(old);
  const whole = ["applied 1", "applied 4", "applied 5", "applied 2", "applied 6", "applied 3"];
  await eventually(async () => expect(await outcomesOf(place, lcid)).toEqual(whole), { withinMs: 30_000 });

  const all = [...events, authorized(lcid, { number: 5 })];
  const { events: kept, told } = await keptOf(place, lcid);
  expect(kept).toEqual(all);
  expect(told).toEqual([0, 3, 5, 1, 2, 4].map((number) => all[number]?.id));
  // The history in the order of first decisions is the line's, whoever decided.
  expect(await idsOf(place, lcid)).toEqual(all.map(({ id }) => id));
  expect((await junban(build, place, ["audit"])).code).toBe(0);
  // A build that cannot read part of a history says so, and calls nothing sound that it has not seen.
  const doubted = await junban(oldBuild, place, ["audit"]);
  expect(doubted.code).toBe(1);
  expect(doubted.out).toContain(lcid);
  expect(doubted.out).not.toContain(other);
  await end(newer);
}, 180_000);

test("an old worker decides what does not name the event it cannot read as if that had not come yet", async () => {
  const place = await freshPlace();
  const lcid = freshLcid();
  const old = await startWorker(place, SHORT_LEASE, await buildWithout(["payment.voided"]));
  const voided = eventOf(lcid, 2, {
    type: "payment.voided",
    data: { voidId: "v-1", authorizationId: "a-1", amount: 10, reason: "voided" },
  });
  const captured = eventOf(lcid, 3, {
    type: "payment.captured",
    data: { captureId: "c-1", authorizationId: "a-1", amount: 10, currency: "JPY" },
  });
  await publish(place, [placed(lcid), authorized(lcid, { number: 1 }), voided, captured]);
  await eventually(async () => (await rowsOf(place)).length === 4, { withinMs: 30_000 });
  expect(await outcomesOf(place, lcid)).toEqual([
    "applied 1",
    "applied 2",
    "deferred UNSUPPORTED",
    "applied 3",
  ]);
  await end(old);
  const newer = await startWorker(place, SHORT_LEASE);
  await eventually(async () => (await outcomesOf(place, lcid))[2] === "rejected VOID_EXCEEDS_OPEN", {
    withinMs: 30_000,
  });
  expect((await junban(THIS_BUILD, place, ["audit"])).code).toBe(0);
  await end(newer);
}, 180_000);

test("back to an old build and forward again: what the newer one holds is not given up when the old one applies what it waits for", async () => {
  const place = await freshPlace();
  const lcid = freshLcid();
  const deadline = { JUNBAN_HOLD_MS: "3600000" };
  const newer = await startWorker(place, { ...SHORT_LEASE, ...deadline });
  const early = { ...reservation(lcid), id: `${lcid}-0`, source: "/early" };
  await publish(place, [early]);
  await eventually(async () => (await outcomesOf(place, lcid))[0] === "deferred ORDER_NOT_FOUND", {
    withinMs: 30_000,
  });
  await end(newer);

  const old = await startWorker(place, SHORT_LEASE, await buildWithout(["inventory.reserved"]));
  await publish(place, [placed(lcid)]);
  await eventually(async () => (await outcomesOf(place, lcid))[1] === "applied 1", { withinMs: 30_000 });
  expect((await outcomesOf(place, lcid))[0]).toBe("deferred UNSUPPORTED");
  await end(old);

  const again = await startWorker(place, SHORT_LEASE);
  await eventually(async () => (await outcomesOf(place, lcid))[0] === "applied 2", { withinMs: 30_000 });
  expect((await keptOf(place, lcid)).events).toEqual([early, placed(lcid)]);
  expect((await junban(THIS_BUILD, place, ["audit"])).code).toBe(0);
  await end(again);
}, 180_000);

test("workers whose scripts differ in their text serve the same lanes side by side", async () => {
  const place = await freshPlace();
  const scripts = ["queue", "enter", "handoff", "renew", "leave", "step-back"];
  const edited = Object.fromEntries(
    scripts.map((name) => [
      `packages/handoff-lock/lua/${name}.lua`,
      [{ from: "-- KEYS\n", to: "-- The same, in the words of another build.\n--\n-- KEYS\n" }],
    ]),
  );
  const one = await startWorker(place, SHORT_LEASE, await buildWith({ edited }));
  const other = await startWorker(place, SHORT_LEASE);
  const lcids = Array.from({ length: 20 }, () => freshLcid());
  const signed = async (): Promise<Set<string>> => new Set((await rowsOf(place)).map(({ worker }) => worker));
  let count = 0;
  // As long as it takes until both have had a turn; whoever is quicker must not be able to end the test.
  while (count < 20 || (await signed()).size < 2) {
    await publish(
      place,
      lcids.flatMap((lcid) => eventsOf(lcid, count + 5).slice(count)),
    );
    count += 5;
    expect(count).toBeLessThan(500);
  }
  await eventually(async () => (await rowsOf(place)).length === lcids.length * count, { withinMs: 60_000 });
  await expectPublishOrder(place, lcids, count);
  for (const worker of [one, other]) {
    expect(worker.tree.stdout()).not.toMatch(/"level":"(?:error|fatal)"/);
    await end(worker);
  }
}, 180_000);
