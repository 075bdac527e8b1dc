import { readFile } from "node:fs/promises";
import { createLanes } from "@junban/handoff-lock";
import { createOrderStore } from "@junban/order-store";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { REASON_WORDS } from "../../apps/console/src/pages/reasons.ts";
import { freshRedis } from "../support/index.ts";
import { consoleOfFile, freshPlace, startConsole } from "./console-lab.ts";
import { applyAll, event, fillStage, placed, storeAt, TOLD } from "./stage.ts";

/** What people come to the console for, step by step, without a browser. */

const place = await freshPlace();
await fillStage(place);
const junban = await consoleOfFile(place);
const [olga, vera] = await Promise.all([junban.logIn("olga"), junban.logIn("vera")]);

async function read(path: string, cookie = vera) {
  const answer = await junban.ask(path, { cookie });
  const text = answer.text.replaceAll(/\s+/gu, " ");
  return { ...answer, text, location: answer.headers.get("location") };
}

async function act(path: string, form: Record<string, string>) {
  const token = await junban.formToken(olga);
  const answer = await junban.ask(path, { cookie: olga, form: { token, ...form } });
  return read(answer.headers.get("location") ?? "", olga);
}

async function withSql<Result>(work: (sql: pg.Client) => Promise<Result>): Promise<Result> {
  const sql = new pg.Client({ connectionString: place.databaseUrl });
  await sql.connect();
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

describe("the search field", () => {
  test("finds an order of which nothing is decided yet, and leads to the page that shows its line", async () => {
    const { status, location } = await read(`/search?q=${TOLD.laneHolder}`);
    expect([status, location]).toEqual([303, `/order?lcid=${TOLD.laneHolder}`]);
    expect((await read(location ?? "")).text).toContain("Events in line");
  });

  const search = async (values: Record<string, string>) =>
    read(`/search?${new URLSearchParams(values).toString()}`);

  test("takes an event as the record and as pages write it: source and id, id and source", async () => {
    const { source, id } = TOLD.haltedEvent;
    const path = `/event?${new URLSearchParams({ source, id }).toString()}`;
    for (const q of [`${source} ${id}`, `${id} ${source}`, ` ${id} ${source} `, `${source}   ${id}`]) {
      expect([q, (await search({ q })).location]).toEqual([q, path]);
    }
    expect((await search({ q: `/elsewhere ${id}` })).status).toBe(404);
  });

  test("takes a blank at the end of an id for part of it, unless nothing is called so", async () => {
    const store = storeAt(place);
    onTestFinished(async () => store.close());
    const names = ["blank", "blank ", " blank"];
    await applyAll(
      store,
      names.map((id) => event("S-4444", "cancel.confirmed", { cancelId: id }, { id })),
    );
    for (const id of names) {
      const path = `/event?${new URLSearchParams({ source: "/shop", id }).toString()}`;
      expect([id, (await search({ q: id })).location]).toEqual([id, path]);
      expect([id, (await search({ q: `/shop ${id}` })).location]).toEqual([id, path]);
    }
    expect((await search({ q: "blank  " })).location).toContain("id=blank");
  });

  test("says what it looked through where nothing is found, and what is missing where nothing was asked", async () => {
    const nothing = await search({ q: "no-such-thing" });
    expect(nothing.status).toBe(404);
    expect(nothing.text).toContain("no event of that id has been decided");
    // It may stand in a line all the same, under the name of its order.
    expect(nothing.text).toContain("An event that still stands in line is found on the page of its order");
    expect(nothing.text).not.toContain("stands in line is not known");
    expect((await search({ q: "x", source: "/y" })).text).toContain("No event of that source and id");
    expect((await read("/order")).text).toContain("The order&#39;s name is missing.");
  });
});

describe("the list of dead letters", () => {
  test("shows open alerts and nothing else where the figure leads", async () => {
    const store = storeAt(place);
    onTestFinished(async () => store.close());
    const pay = (type: string, id: string, data: object) =>
      event("S-7007", type, { amount: 900, currency: "EUR", ...data }, { source: "/payments", id });
    await applyAll(store, [
      placed("S-7007"),
      pay("payment.authorized", "evt-a", { authorizationId: "a-1" }),
      pay("payment.captured", "evt-first", { captureId: "once", authorizationId: "a-1" }),
      pay("payment.captured", "evt-second", { captureId: "twice", authorizationId: "a-1" }),
      pay("payment.voided", "evt-void", { voidId: "v-1", authorizationId: "a-1", reason: "voided" }),
    ]);
    const rejected = await read("/dead?outcome=rejected");
    for (const id of ["evt-second", "evt-void"]) expect(rejected.text).toContain(id);
    const open = await read("/dead?outcome=alerts");
    expect(open.text).toContain("evt-second");
    expect(open.text).not.toContain("evt-void");
    await expect
      .poll(async () => (await read("/")).text)
      .toMatch(/href="\/dead\?outcome=alerts"> ?<span class="figure-name">Alerts/u);
  });

  test("finds a reason however it is typed, and leads to what each means", async () => {
    const failed = await read("/dead?reason=decision_failed");
    expect(failed.text).toContain(TOLD.haltedEvent.id);
    expect(failed.text).toContain('href="/reasons#DECISION_FAILED" title="deciding it met a fault"');
    expect((await read("/reasons")).text).toMatch(/id="DECISION_FAILED".*deciding it met a fault/u);
    expect((await read("/dead?reason=nonsense")).text).toContain("None with the reason nonsense.");
  });

  test("goes on where a page of it ends, and so do halted orders and parked updates", async () => {
    const store = storeAt(place);
    onTestFinished(async () => store.close());
    const many = Array.from({ length: 101 }, (_, index) => `M-${1_000 + index}`);
    const curse = (lcid: string) =>
      event(lcid, "payment.failed", { stage: "capture", ref: "cursed", code: "x" }, { id: `evt-${lcid}` });
    await applyAll(
      store,
      many.flatMap((lcid) => [curse(lcid)]),
    );
    await withSql((sql) =>
      sql.query(
        `insert into outbox_parked (id, lcid, version, payload, created_at, parked_at, reason)
          select 100000 + n, 'P-' || n, 1, '{}', now(), now(), 'REDIS_REFUSED' from generate_series(1, 101) as n`,
      ),
    );
    for (const path of ["/dead", "/dead?outcome=failed&reason=decision_failed", "/halted", "/parked"]) {
      const first = await read(path);
      const [, next = ""] = /href="([^"]+)">(?:Older|More)</u.exec(first.text) ?? [];
      expect(next).toMatch(/[?;](?:before|after)=/u);
      const second = await read(next.replaceAll("&amp;", "&"));
      const rows = (text: string) =>
        [...text.matchAll(/<td[^>]*data-title="(?:Event|Order|Number)">.*?<\/td>/gu)].map(String);
      expect([path, rows(second.text).filter((row) => rows(first.text).includes(row))]).toEqual([path, []]);
      expect([path, rows(second.text).length > 0]).toEqual([path, true]);
      expect([path, second.text.includes(">Older<") || second.text.includes(">More<")]).toEqual([
        path,
        false,
      ]);
    }
    await withSql((sql) => sql.query("delete from outbox_parked where id > 100000"));
  });

  test("has no column of acts for those who may not act", async () => {
    for (const path of ["/dead", "/held", "/halted", "/parked", "/dead?outcome=jobs"]) {
      expect([path, (await read(path)).text.includes(">Acts<")]).toEqual([path, false]);
      expect([path, (await read(path, olga)).text.includes(">Acts<")]).toEqual([path, true]);
    }
  });
});

test("that nothing is parked says nothing of what still waits to be passed on, which is told beside it", async () => {
  const [id] = (await withSql((sql) => sql.query<{ id: string }>("select id from outbox_parked"))).rows;
  await act("/acts/give-back", { id: id?.id ?? "" });
  expect((await read("/parked")).text).toMatch(
    /Nothing is parked\. [\d,]+ updates wait to be passed on, the oldest for/u,
  );
});

test("the record leads to what was acted on: an event, an order", async () => {
  await act("/acts/replay", { source: "/payments", id: "evt-none" });
  await act("/acts/free-lane", { lcid: TOLD.laneHolder, holder: "nobody" });
  const { text } = await read("/actions");
  expect(text).toContain('href="/search?q=%2Fpayments+evt-none"');
  expect(text).toContain(`href="/order?lcid=${TOLD.laneHolder}"`);
});

test("a place that no fleet ever used is told as such, and not as a calm fleet", async () => {
  const elsewhere = await startConsole({ ...place, prefix: `${place.prefix}-mistyped` });
  const cookie = await elsewhere.logIn("vera");
  for (const [path, words] of [
    ["/", "No queue was ever used under the prefix"],
    ["/doctor", `no queue was ever used under the prefix ${place.prefix}-mistyped in this Redis`],
  ] as const) {
    expect((await elsewhere.ask(path, { cookie })).text).toContain(words);
    expect((await read(path)).text).not.toContain(words);
  }
});

test("halted orders can be replayed and dropped where they are listed", async () => {
  const { text } = await read("/halted", olga);
  expect(text).toContain('action="/acts/replay"');
  expect(text).toContain('action="/acts/drop"');
});

test("whoever comes second is told how it was settled, and an alert's form does nothing to what is no alert", async () => {
  const store = storeAt(place);
  onTestFinished(async () => store.close());
  const early = { source: "/payments", id: "evt-settled" };
  const data = { captureId: "c-5", authorizationId: "a-5", amount: 100, currency: "EUR" };
  await applyAll(store, [placed("S-5555"), event("S-5555", "payment.captured", data, early)]);
  const settle = async (path: string, which: { source: string; id: string }) =>
    (await act(path, { ...which, reason: "seen to", back: "/dead" })).text;
  expect(await settle("/acts/acknowledge", TOLD.haltedEvent)).toContain(
    "Nothing was changed: acknowledge /payments evt-cursed. An event that is failed cannot be acknowledged.",
  );
  expect(await store.readEvent(TOLD.haltedEvent)).toMatchObject({ outcome: "failed" });
  expect(await settle("/acts/drop", early)).toContain("Done: drop");
  expect(await settle("/acts/drop", early)).toContain(
    "Nothing was changed: drop /payments evt-settled. Already dropped",
  );
  expect(await settle("/acts/acknowledge", TOLD.alert)).toContain("Done: acknowledge");
  expect(await settle("/acts/acknowledge", TOLD.alert)).toContain("Already acknowledged");
});

test("an event that Postgres still refuses: nothing was changed, why, what to do, and not a word of the server's", async () => {
  const store = createOrderStore({ databaseUrl: place.databaseUrl, worker: "test" });
  onTestFinished(async () => store.close());
  await withSql((sql) =>
    sql.query("alter table orders add constraint nothing_captured check (captured_minor = 0) not valid"),
  );
  await applyAll(store, [placed("S-8008")]);
  const data = { captureId: "c-8", authorizationId: null, amount: 100, currency: "EUR" };
  await applyAll(store, [event("S-8008", "payment.captured", data, { source: "/payments", id: "bh-c" })]);
  const told = await act("/acts/replay", { source: "/payments", id: "bh-c", back: "/halted" });
  expect(told.text).toContain(
    "Nothing was changed: replay /payments bh-c. Postgres still refuses it: mend the cause and replay again (SQLSTATE 23514, nothing_captured, orders).",
  );
  expect(told.text).not.toContain("violates");
  expect(told.text).not.toContain("not certain");
});

test("an order whose row somebody else holds: nothing was changed, it is busy", async () => {
  await withSql(async (sql) => {
    await sql.query("begin");
    await sql.query("select 1 from orders where lcid = $1 for update", [TOLD.halted]);
    const told = await act("/acts/replay", { ...TOLD.haltedEvent, back: "/dead" });
    expect(told.text).toContain("The order is busy: try again (SQLSTATE 55P03).");
    expect(told.text).toContain("Nothing was changed");
  });
});

test("a held lane is freed behind what that does, on record, and only of the holder that was shown", async () => {
  const lanes = createLanes({ redis: freshRedis().connect(), prefix: place.prefix });
  onTestFinished(async () => lanes.close());
  const page = `/order?lcid=${TOLD.laneHolder}`;
  expect((await read(page)).text).not.toContain("Free this lane");
  const shown = (await read(page, olga)).text;
  expect(shown).toContain("nothing is decided twice or out of its order");
  // The stage's holder has a longer lease than the console's, and is gone.
  expect(shown).toContain("A holder that is alive renews its lease each third of it.");
  const holder = /name="holder" value="([^"]+)"/u.exec(shown)?.[1] ?? "";
  const other = await act("/acts/free-lane", { lcid: TOLD.laneHolder, holder: "somebody-else" });
  expect(other.text).toContain("It is not held by somebody-else any more.");
  expect(other.text).toContain("Nothing was changed");
  expect((await lanes.inspect(TOLD.laneHolder)).holder).toBe(holder);
  const freed = await act("/acts/free-lane", { lcid: TOLD.laneHolder, holder });
  expect(freed.text).toContain(`Done: free lane ${TOLD.laneHolder}, held by ${holder}.`);
  // Nobody works at this place.
  expect(freed.text).toContain(
    "No job waited for it: the line is gone on with when a job of this order comes",
  );
  expect((await lanes.inspect(TOLD.laneHolder)).holder).toBeNull();
});

test("a lane that is freed says that a job that waited for it was woken", async () => {
  const redis = freshRedis().connect();
  const gone = createLanes({ redis, prefix: place.prefix });
  const waiting = createLanes({ redis, prefix: place.prefix, waitMs: 30_000, wordMs: 30_000 });
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await Promise.all([gone.close(), waiting.close()]);
  });
  await gone.enter("R-1");
  const request = { key: "k", body: "b" };
  const standing = waiting.stand("R-1", request, { signal: ending.signal });
  await expect.poll(async () => (await waiting.inspect("R-1")).seats).toBe(1);
  const { holder } = await waiting.inspect("R-1");
  const freed = await act("/acts/free-lane", { lcid: "R-1", holder: holder ?? "" });
  expect(freed.text).toContain("The lock is dropped, and a job that waited for it was woken.");
  expect((await standing).kind).toBe("turn");
});

test("an order that was purged is said to be that, wherever somebody looks for it", async () => {
  const store = storeAt(place);
  onTestFinished(async () => store.close());
  const request = { cancelId: "x", scope: "order", reason: "test" };
  await applyAll(store, [
    placed("GONE"),
    event("GONE", "cancel.requested", request, { id: "gone-2" }),
    event("GONE", "cancel.confirmed", { cancelId: "x" }),
  ]);
  expect(await store.purgeOne("GONE")).toBe(true);
  expect(await read("/search?q=GONE")).toMatchObject({ status: 303, location: "/order?lcid=GONE" });
  const { status, text } = await read("/order?lcid=GONE");
  expect(status).toBe(200);
  expect(text).toMatch(/It was finished, and purged on .*: its events are gone/u);
  expect((await read("/search?q=gone-2")).text).toContain("or its order was purged");
});

test("the doctor's findings stand on a page, with what they mean and what to do", async () => {
  const { status, text } = await read("/doctor");
  expect(status).toBe(200);
  expect(text).toMatch(/Redis<\/dt>.*used of/u);
  // The stage has no worker, and an order stands halted.
  expect(text).toContain("junban dlq");
});

test("an order's page says whose status each is, and what is due without a word too much", async () => {
  const store = storeAt(place);
  onTestFinished(async () => store.close());
  await applyAll(store, [placed("S-9009")]);
  const { text } = await read("/order?lcid=S-9009");
  for (const words of [
    "Order: placed",
    "Payment: unpaid",
    "Nothing to refund, void, release or answer.",
    "1 event,",
  ]) {
    expect(text).toContain(words);
  }
});

test("every reason of docs/events.md has words, and no other", async () => {
  const page = await readFile(new URL("../../docs/events.md", import.meta.url), "utf8");
  const [, outcomes = ""] = /^## Outcomes$(.*?)^## Statuses$/msu.exec(page) ?? [];
  const codes = [...outcomes.matchAll(/`([A-Z][A-Z_]+)(?::…|:)?`/gu)].map(([, code = ""]) => code);
  const reasons = new Set(codes.filter((code) => !code.startsWith("JUNBAN_")));
  expect(Object.keys(REASON_WORDS).toSorted()).toEqual([...reasons].toSorted());
});
