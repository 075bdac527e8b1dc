import { requestOf } from "@junban/orders";
import type { EventEnvelope } from "@junban/orders";
import { describe, expect, test } from "vitest";
import {
  InvalidEventError,
  LaneFullError,
  QueueUnavailableError,
} from "../../packages/event-queues/src/index.ts";
import type { PublishResult } from "../../packages/event-queues/src/index.ts";
import { eventually, freshRedis } from "../support/index.ts";
import { eventOf, eventsOf, openLanes, openPublisher } from "./publisher-setting.ts";
import { openPlainQueues, openReader, startConsumer } from "./setting.ts";

describe("a published event", () => {
  test("stands in its lane and has a job that carries the event and nothing else", async () => {
    const corner = freshRedis();
    const event = eventOf();

    const published = await openPublisher(corner).publish(event);

    expect(published).toEqual({ lcid: "A-1", key: requestOf(event).key, depth: 1, priority: 0 });
    expect(await openLanes(corner).idsIn("A-1")).toEqual(["evt-1"]);
    const [job] = await openPlainQueues(corner).payment.getWaiting();
    expect(job).toMatchObject({ name: "payment.captured", data: event });
  });

  test("goes to the queue of its family, an unknown type to line items", async () => {
    const corner = freshRedis();
    const types = [
      "payment.captured",
      "inventory.reserved",
      "line.added",
      "cancel.requested",
      "mystery.happened",
    ];

    await openPublisher(corner).publishAll(types.map((type) => eventOf({ type, id: type })));

    const counts = await openReader(corner).counts();
    expect([counts.payment.waiting, counts.inventory.waiting, counts.cancel.waiting]).toEqual([1, 1, 1]);
    expect(counts["line-item"].waiting).toBe(2);
  });

  test.each(["a:b", "a:b:c", "123", "0", "0:1", "順番-é", "e\u0301", "*", "'); DROP TABLE orders;--", "{x}"])(
    "may have the id %j, and be published again after its job failed",
    async (id) => {
      const corner = freshRedis();
      const publisher = openPublisher(corner);
      await publisher.publish(eventOf({ id }));
      const consumer = startConsumer(corner, {
        process: async () => ({ kind: "unusable", reason: "a test" }),
      });
      await eventually(() => consumer.jobs.length === 1);

      await publisher.publish(eventOf({ id }));

      await eventually(() => consumer.jobs.length === 2);
      expect(consumer.jobs.map((job) => (job.data as EventEnvelope).id)).toEqual([id, id]);
      expect(await openLanes(corner).idsIn("A-1")).toEqual([id]);
    },
  );

  test("keeps one place however often it is published, and every time gets a job", async () => {
    const corner = freshRedis();
    const publisher = openPublisher(corner);

    const first = await publisher.publish(eventOf());
    await publisher.publish(eventOf({ id: "evt-2" }));
    const again = await publisher.publishAll([eventOf(), eventOf()]);

    expect(again.map((result) => result.kind === "published" && result.key)).toEqual([first.key, first.key]);
    expect(await openLanes(corner).idsIn("A-1")).toEqual(["evt-1", "evt-2"]);
    expect((await openReader(corner).counts()).payment.waiting).toBe(4);
  });

  test("has the key its consumer will find, whatever the caller's object was made of", async () => {
    const corner = freshRedis();
    const at = new Date(1_700_000_000_000);
    const data = { at, none: undefined, not: Number.NaN, made: { toJSON: () => "text" } };

    const published = await openPublisher(corner).publish(eventOf({ data }));

    const [job] = await openPlainQueues(corner).payment.getWaiting();
    expect(job?.data).toMatchObject({ data: { at: at.toISOString(), not: null, made: "text" } });
    expect(requestOf(job?.data as EventEnvelope).key).toBe(published.key);
  });
});

describe("order", () => {
  test("of one publishAll is the order of every lane", async () => {
    const corner = freshRedis();
    const lcids = Array.from({ length: 13 }, (_, index) => `A-${index}`);
    const events = Array.from({ length: 3_000 }, (_, index) =>
      eventOf({ lcid: lcids[index % lcids.length]!, id: `evt-${index}` }),
    );

    const results = await openPublisher(corner).publishAll(events);

    expect(results.filter((result) => result.kind === "published")).toHaveLength(3_000);
    const lanes = openLanes(corner);
    for (const lcid of lcids) {
      expect(await lanes.idsIn(lcid)).toEqual(
        events.filter((event) => event.lcid === lcid).map((event) => event.id),
      );
    }
  });

  test("of calls that nobody waited for is the order in which they were made", async () => {
    const corner = freshRedis();
    const publisher = openPublisher(corner);
    const calls: Promise<unknown>[] = [];

    for (let round = 0; round < 30; round += 1) {
      calls.push(publisher.publish(eventOf({ lcid: "A-1", id: `${round}-single` })));
      calls.push(
        publisher.publishAll([...eventsOf("A-1", 20, round * 20), ...eventsOf("B-2", 5, round * 5)]),
      );
      if (round % 7 === 0) await Promise.all(calls);
    }
    await Promise.all(calls);

    const expected = Array.from({ length: 30 }, (_, round) => [
      `${round}-single`,
      ...eventsOf("A-1", 20, round * 20).map((event) => event.id),
    ]);
    const lanes = openLanes(corner);
    expect(await lanes.idsIn("A-1")).toEqual(expected.flat());
    expect(await lanes.idsIn("B-2")).toEqual(eventsOf("B-2", 150).map((event) => event.id));
  });
});

describe("an event that may not enter", () => {
  const cyclic: Record<string, unknown> = { ...eventOf() };
  cyclic["data"] = cyclic;

  test.each([
    ["no envelope", "text", "event"],
    ["nothing", undefined, "event"],
    ["a function", () => 1, "event"],
    ["a cycle", cyclic, "event"],
    ["a bigint", eventOf({ data: 1n }), "event"],
    ["another specversion", { ...eventOf(), specversion: "0.3" }, "specversion"],
    ["an empty id", eventOf({ id: "" }), "id"],
    ["a number as id", { ...eventOf(), id: 7 }, "id"],
    ["no source", { ...eventOf(), source: undefined }, "source"],
    ["no type", { ...eventOf(), type: null }, "type"],
    ["a blank in the lcid", eventOf({ lcid: "A 1" }), "lcid"],
    ["a brace in the lcid", eventOf({ lcid: "A{1}" }), "lcid"],
    ["a lcid of 129 characters", eventOf({ lcid: "x".repeat(129) }), "lcid"],
  ])("is refused for %s, naming the field", async (_why, event, field) => {
    const error: unknown = await openPublisher(freshRedis())
      .publish(event)
      .catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(InvalidEventError);
    expect(error).toMatchObject({ code: "INVALID_EVENT", field, rule: expect.any(String) as string });
  });

  test("is refused when it is too large, counted in bytes; the largest one enters", async () => {
    const corner = freshRedis();
    const publisher = openPublisher(corner);
    const sizedEvent = (bytes: number): EventEnvelope => {
      const empty = Buffer.byteLength(JSON.stringify(eventOf({ data: "" })));
      return eventOf({ data: `${"é".repeat(100)}${"x".repeat(bytes - empty - 200)}` });
    };

    await expect(publisher.publish(sizedEvent(65_537))).rejects.toMatchObject({
      name: "InvalidEventError",
      code: "EVENT_TOO_LARGE",
    });
    await expect(publisher.publish(sizedEvent(65_536))).resolves.toMatchObject({ depth: 1 });
  });

  test("does not hold up its neighbours, not even those of its own order", async () => {
    const corner = freshRedis();

    const results = await openPublisher(corner).publishAll([
      eventOf({ id: "first" }),
      eventOf({ id: "" }),
      eventOf({ id: "big", data: "x".repeat(200_000) }),
      eventOf({ id: "last" }),
    ]);

    expect(results.map((result) => result.kind)).toEqual(["published", "refused", "refused", "published"]);
    expect(await openLanes(corner).idsIn("A-1")).toEqual(["first", "last"]);
  });

  test("does not enter for its data alone: that is decided in its place", async () => {
    const corner = freshRedis();

    await openPublisher(corner).publish(eventOf({ data: { amount: -1, currency: "no such" } }));

    expect(await openLanes(corner).idsIn("A-1")).toEqual(["evt-1"]);
  });
});

describe("a full lane", () => {
  test("takes what fits and refuses the rest of that order, typed, in order", async () => {
    const corner = freshRedis();
    const publisher = openPublisher(corner, { laneCap: 10 });

    const results = await publisher.publishAll([...eventsOf("A-1", 15), ...eventsOf("B-2", 3)]);

    expect(kindsOf(results)).toEqual([
      ...kinds("published", 10),
      ...kinds("refused", 5),
      ...kinds("published", 3),
    ]);
    const [error] = refusals(results);
    expect(error).toBeInstanceOf(LaneFullError);
    expect(error).toMatchObject({ code: "LANE_FULL", lcid: "A-1", depth: 10, cap: 10 });
    const lanes = openLanes(corner);
    expect(await lanes.idsIn("A-1")).toEqual(eventsOf("A-1", 10).map((event) => event.id));
    await expect(publisher.publish(eventOf({ id: "one more" }))).rejects.toMatchObject({
      depth: 10,
      cap: 10,
    });

    await lanes.drain("A-1");
    expect(kindsOf(await publisher.publishAll(eventsOf("A-1", 5, 10)))).toEqual(kinds("published", 5));
  });

  test("refuses the rest of a call through all its chunks", async () => {
    const corner = freshRedis();

    const results = await openPublisher(corner, { laneCap: 700 }).publishAll(eventsOf("A-1", 2_000));

    expect(kindsOf(results)).toEqual([...kinds("published", 700), ...kinds("refused", 1_300)]);
    expect(await openLanes(corner).idsIn("A-1")).toEqual(eventsOf("A-1", 700).map((event) => event.id));
    expect((await openReader(corner).counts()).payment).toMatchObject({ waiting: 63, prioritized: 637 });
  });

  test("still acknowledges what stands in it already", async () => {
    const corner = freshRedis();
    const publisher = openPublisher(corner, { laneCap: 5 });
    await publisher.publishAll(eventsOf("A-1", 5));

    expect(kindsOf(await publisher.publishAll(eventsOf("A-1", 5)))).toEqual(kinds("published", 5));
  });
});

describe("priority", () => {
  test("falls with the depth of the lane, so a flood lets fresh work of others pass", async () => {
    const corner = freshRedis();
    const publisher = openPublisher(corner);
    const flood = await publisher.publishAll(eventsOf("A-1", 300));
    const fresh = await publisher.publish(eventOf({ lcid: "B-2", id: "fresh" }));

    expect(flood.map((result) => result.kind === "published" && result.priority)).toEqual([
      ...Array.from({ length: 63 }, () => 0),
      ...Array.from({ length: 64 }, () => 1),
      ...Array.from({ length: 128 }, () => 2),
      ...Array.from({ length: 45 }, () => 3),
    ]);
    expect(fresh.priority).toBe(0);
    const consumer = startConsumer(corner, { concurrency: 1 });
    await eventually(() => consumer.jobs.length === 301);
    expect(consumer.jobs.findIndex((job) => (job.data as EventEnvelope).id === "fresh")).toBe(63);
  });
});

describe("a job that cannot be added", () => {
  test("leaves its event unacknowledged, and publishing again repairs it without a second place", async () => {
    const corner = freshRedis();
    const redis = corner.connect();
    const publisher = openPublisher(corner);
    // BullMQ finds a text where its list should be.
    await redis.set(`${corner.prefix}:{payment}:wait`, "in the way");

    const results = await publisher.publishAll([
      eventOf(),
      eventOf({ id: "evt-2", type: "cancel.requested" }),
    ]);

    expect(kindsOf(results)).toEqual(["refused", "published"]);
    const [error] = refusals(results);
    expect(error).toBeInstanceOf(QueueUnavailableError);
    expect(error).toMatchObject({ code: "REDIS_REFUSED", cause: expect.any(Error) as Error });
    await redis.del(`${corner.prefix}:{payment}:wait`);

    await publisher.publish(eventOf());

    expect(await openLanes(corner).idsIn("A-1")).toEqual(["evt-1", "evt-2"]);
    expect((await openReader(corner).counts()).payment.waiting).toBe(1);
  });
});

describe("closing", () => {
  test("lets what was published finish, and refuses what comes later", async () => {
    const corner = freshRedis();
    const publisher = openPublisher(corner);

    const underWay = publisher.publishAll(eventsOf("A-1", 1_000));
    await publisher.close();

    expect(kindsOf(await underWay)).toEqual(kinds("published", 1_000));
    await expect(publisher.publish(eventOf())).rejects.toMatchObject({ code: "CLOSED" });
    expect(kindsOf(await publisher.publishAll([eventOf()]))).toEqual(["refused"]);
    expect(await publisher.publishAll([])).toEqual([]);
  });
});

function kindsOf(results: readonly PublishResult[]): string[] {
  return results.map((result) => result.kind);
}

function kinds(kind: PublishResult["kind"], count: number): string[] {
  return Array.from({ length: count }, () => kind);
}

function refusals(results: readonly PublishResult[]): Error[] {
  return results.flatMap((result) => (result.kind === "refused" ? [result.error] : []));
}
