import { InvalidEventError, QueueUnavailableError } from "@junban/event-queues";
import type { Publisher, PublishResult } from "@junban/event-queues";
import { MAX_EVENT_BYTES } from "@junban/orders";
import { joinTracing } from "@junban/tracing";
import { describe, expect, test } from "vitest";
import { spanNamed } from "./connected.ts";
import { traceThisProcess } from "./lab.ts";

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const EVENT = {
  specversion: "1.0",
  id: "e-1",
  source: "/lab",
  type: "payment.captured",
  lcid: "A-1",
  data: {},
};
const PUBLISHED = { lcid: "A-1", key: "k", depth: 1, priority: 0 };

interface Inner extends Publisher {
  readonly taken: unknown[];
}

/** What the wrapped publisher is given, and what it answers. */
function innerPublisher(
  answer: (event: unknown) => PublishResult = () => ({ kind: "published", ...PUBLISHED }),
): Inner {
  const taken: unknown[] = [];
  const settle = (event: unknown): PublishResult => {
    taken.push(event);
    return answer(event);
  };
  return {
    taken,
    publish: async (event) => {
      const result = settle(event);
      if (result.kind === "refused") throw result.error;
      const { kind: _kind, ...published } = result;
      return Promise.resolve(published);
    },
    publishAll: async (events) => Promise.resolve(events.map(settle)),
    close: async () => Promise.resolve(),
  };
}

class Letter {
  readonly specversion = "1.0";
  readonly id = "e-1";
  readonly source = "/lab";
  readonly type = "payment.captured";
  readonly lcid = "A-1";
}

describe("an event", () => {
  test("in no trace is put into that of its own span, as a copy", async () => {
    const here = await traceThisProcess();
    const inner = innerPublisher();
    const event = { ...EVENT };
    expect(await here.tracing.publisher(inner).publish(event)).toEqual(PUBLISHED);
    await here.flush();
    const { traceId, spanId } = spanNamed(here.receiver.spans, "publish {payment}");
    expect(inner.taken).toEqual([{ ...EVENT, traceparent: `00-${traceId}-${spanId}-01` }]);
    expect(event).toEqual(EVENT);
  });

  test("in a trace keeps it, and its span is there as well", async () => {
    const here = await traceThisProcess();
    const inner = innerPublisher();
    const event = { ...EVENT, traceparent: TRACEPARENT };
    await here.tracing.publisher(inner).publishAll([event]);
    await here.flush();
    expect(inner.taken).toEqual([event]);
    expect(spanNamed(here.receiver.spans, "publish {payment}")).toMatchObject({
      traceId: TRACEPARENT.split("-")[1],
      parentSpanId: TRACEPARENT.split("-")[2],
    });
  });

  test("with something else for a traceparent keeps that", async () => {
    const { tracing } = await traceThisProcess();
    const inner = innerPublisher();
    const event = { ...EVENT, traceparent: "what its producer put there" };
    await tracing.publisher(inner).publish(event);
    expect(inner.taken).toEqual([event]);
  });

  test("with no room for a trace goes without one, instead of being rejected for its size", async () => {
    const { tracing } = await traceThisProcess();
    const inner = innerPublisher();
    const withNote = (length: number): object => ({ ...EVENT, data: { note: "x".repeat(length) } });
    const room = MAX_EVENT_BYTES - JSON.stringify(withNote(0)).length;
    const added = `,"traceparent":"${TRACEPARENT}"`.length;
    await tracing.publisher(inner).publishAll([withNote(room - added), withNote(room - added + 1)]);
    expect(inner.taken.map((event) => "traceparent" in (event as object))).toEqual([true, false]);
    expect(JSON.stringify(inner.taken[0])).toHaveLength(MAX_EVENT_BYTES);
  });

  test.each([
    ["that is an instance of a class", new Letter()],
    ["that writes itself as JSON", { ...EVENT, toJSON: () => EVENT }],
    ["with a cycle", Object.assign({ ...EVENT }, { data: EVENT, self: {} })],
    ["with a bigint", { ...EVENT, data: { amount: 1n } }],
    ["that is unusable", { id: 7 }],
    ["that is no object", "hello"],
  ])("%s is passed on as it is", async (_what, event) => {
    const { tracing } = await traceThisProcess();
    const inner = innerPublisher();
    if (typeof event === "object" && "self" in event) event.self = event;
    await tracing.publisher(inner).publish(event);
    expect(inner.taken[0]).toBe(event);
  });

  test("that is refused has a span that failed, and its caller the same error", async () => {
    const here = await traceThisProcess();
    const error = new QueueUnavailableError({ code: "REDIS_AWAY", detail: "canary-detail" });
    const publisher = here.tracing.publisher(innerPublisher(() => ({ kind: "refused", error })));
    await expect(publisher.publish(EVENT)).rejects.toBe(error);
    expect(await publisher.publishAll([EVENT])).toEqual([{ kind: "refused", error }]);
    await here.flush();
    expect(
      here.receiver.spans.map(({ statusCode, attributes }) => [statusCode, attributes["error.type"]]),
    ).toEqual([
      [2, "REDIS_AWAY"],
      [2, "REDIS_AWAY"],
    ]);
    expect(here.receiver.bodies.join("\n")).not.toContain("canary-detail");
  });
});

test("results keep the order of their events, and events without spans lie between others", async () => {
  const { tracing } = await traceThisProcess();
  const invalid = new InvalidEventError({ code: "INVALID_EVENT", field: "id", rule: "a name" });
  const inner = innerPublisher((event) =>
    event === "junk" ? { kind: "refused", error: invalid } : { kind: "published", ...PUBLISHED },
  );
  const results = await tracing.publisher(inner).publishAll([EVENT, "junk", EVENT]);
  expect(results.map(({ kind }) => kind)).toEqual(["published", "refused", "published"]);
});

test("where a process has registered no provider, joining it changes no event", async () => {
  const tracing = await joinTracing();
  const inner = innerPublisher();
  await tracing.publisher(inner).publish(EVENT);
  expect(inner.taken).toEqual([EVENT]);
  await tracing.close();
});
