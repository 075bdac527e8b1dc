import { createOrderStore, type OrderStore } from "@junban/order-store";
import { hotStory } from "@junban/order-stories";
import { requestOf, type EventEnvelope } from "@junban/orders";
import pg from "pg";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { readDecisions } from "../../apps/bench/src/rounds/decisions.ts";
import { judge, type Judgement } from "../../apps/bench/src/rounds/judging.ts";
import { freshDatabase } from "../support/index.ts";

const EVENTS = hotStory({ lcid: "J-1", events: 30, seed: 1 });

let databaseUrl: string;
let store: OrderStore;

beforeEach(async () => {
  databaseUrl = await freshDatabase();
  store = createOrderStore({ databaseUrl, worker: "test" });
  onTestFinished(async () => store.close());
});

async function apply(events: readonly EventEnvelope[]): Promise<void> {
  for (const event of events) {
    const { lcid, key, body } = requestOf(event);
    const [result] = await store.apply([{ lcid, requests: [{ key, body, publishedAtMs: Date.now() }] }]);
    expect(result?.trouble).toBeNull();
  }
}

async function judged(): Promise<Judgement> {
  return judge(
    {
      decisions: async (lcids) => readDecisions(store, lcids),
      audit: (lcids) => store.audit(lcids),
    },
    EVENTS,
  );
}

async function tamper(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    expect((await client.query(statement)).rowCount).toBeGreaterThan(0);
  } finally {
    await client.end();
  }
}

test("finds nothing wrong where every event was applied once, in publish order", async () => {
  await apply(EVENTS);
  expect(await judged()).toEqual({ inversions: 0, lost: 0, doubled: 0 });
});

test("counts each event that overtook an earlier one, and holds nothing else against it", async () => {
  await apply([...EVENTS.slice(-2), ...EVENTS.slice(0, -2)]);
  expect(await judged()).toEqual({ inversions: 2, lost: 0, doubled: 0 });
});

test("counts each published event without a row", async () => {
  await apply([...EVENTS.slice(0, 10), ...EVENTS.slice(13)]);
  expect(await judged()).toMatchObject({ inversions: 0, lost: 3 });
});

test("counts an order in which a payment took effect twice", async () => {
  await apply(EVENTS);
  await tamper("update orders set authorized_minor = authorized_minor + 100 where authorized_minor > 0");
  expect(await judged()).toEqual({ inversions: 0, lost: 0, doubled: 1 });
});

test("counts an order in which a quantity took effect twice", async () => {
  await apply(EVENTS);
  await tamper(
    "update order_lines set peak = peak + 1 where line_id = (select min(line_id) from order_lines)",
  );
  expect(await judged()).toEqual({ inversions: 0, lost: 0, doubled: 1 });
});
