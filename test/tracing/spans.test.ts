import { QueueUnavailableError } from "@junban/event-queues";
import type { LaneBatch, LaneResult, Settled } from "@junban/order-store";
import { describe, expect, test } from "vitest";
import { spanNamed } from "./connected.ts";
import { traceThisProcess } from "./lab.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";
const SAMPLED = `00-${TRACE_ID}-${SPAN_ID}-01`;
const NOT_SAMPLED = `00-${TRACE_ID}-${SPAN_ID}-00`;

interface Attributes {
  readonly id?: string;
  readonly traceparent?: string;
}

function envelope({ id = "e-1", traceparent }: Attributes): Record<string, unknown> {
  const event = { specversion: "1.0", id, source: "/lab", type: "payment.captured", lcid: "A-1" };
  return {
    ...event,
    data: { captureId: "canary-capture" },
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

function batch(...events: readonly Attributes[]): LaneBatch {
  const requests = events.map((event, index) => ({
    key: `k-${index}`,
    body: JSON.stringify(envelope(event)),
    publishedAtMs: Date.now() + 60_000,
  }));
  return { lcid: "A-1", requests };
}

function answer(settled: Partial<Settled>): Settled {
  const whole = { key: "k", source: "/lab", id: "e-1", type: "payment.captured", repeat: false };
  return { ...whole, outcome: "applied", reason: null, version: null, ...settled };
}

const lane = (result: Partial<LaneResult>): LaneResult => ({
  lcid: "A-1",
  settled: [],
  trouble: null,
  released: 0,
  ...result,
});

describe("the application of events", () => {
  test("tells each event's outcome, the word of a reason without its reference, and a failure as one", async () => {
    const here = await traceThisProcess();
    const settled = [
      answer({ outcome: "duplicate", reason: "capture:canary-capture" }),
      answer({ outcome: "failed", reason: "DECISION_FAILED" }),
    ];
    const results = [lane({ settled })];
    const apply = here.tracing.apply(async () => Promise.resolve(results));
    const batches = [batch({ id: "e-1", traceparent: SAMPLED }, { id: "e-2", traceparent: SAMPLED })];
    expect(await apply(batches)).toBe(results);
    await here.flush();
    const applied = here.receiver.spans.filter(({ name }) => name === "apply {payment}");
    expect(applied.map(({ statusCode, attributes }) => [attributes["junban.reason"], statusCode])).toEqual([
      ["capture", 0],
      ["DECISION_FAILED", 2],
    ]);
    expect(here.receiver.bodies.join("\n")).not.toContain("canary-capture");
  });

  test("says of an event that was not settled why, and of all when the store throws", async () => {
    const here = await traceThisProcess();
    const trouble = { kind: "passing", error: new Error("canary-message") } as const;
    const apply = here.tracing.apply(async () => Promise.resolve([lane({ settled: [answer({})], trouble })]));
    const two = batch({ id: "e-1", traceparent: SAMPLED }, { id: "e-2", traceparent: SAMPLED });
    await apply([two]);
    const error = new RangeError("canary-message");
    const failing = here.tracing.apply(async () => Promise.reject(error));
    await expect(failing([batch({ traceparent: SAMPLED })])).rejects.toBe(error);
    await here.flush();
    const kinds = here.receiver.spans
      .filter(({ name }) => name === "apply {payment}" || name === "transaction")
      .map(({ name, attributes }) => [name, attributes["error.type"]]);
    expect(kinds).toEqual([
      ["apply {payment}", undefined],
      ["apply {payment}", "passing"],
      ["transaction", undefined],
      ["apply {payment}", "RangeError"],
      ["transaction", "RangeError"],
    ]);
    expect(here.receiver.bodies.join("\n")).not.toContain("canary-message");
  });

  test("leaves events in no trace alone, and links with none that is not recorded", async () => {
    const here = await traceThisProcess();
    const apply = here.tracing.apply(async () =>
      Promise.resolve([lane({ settled: [answer({}), answer({}), answer({})] })]),
    );
    await apply([batch({}, { traceparent: NOT_SAMPLED }, { traceparent: "rubbish" })]);
    await here.flush();
    expect(here.receiver.spans.map(({ name, links }) => [name, links])).toEqual([["transaction", []]]);
  });

  test("never shows an event standing for a negative time, whatever the clock of Redis says", async () => {
    const here = await traceThisProcess();
    const apply = here.tracing.apply(async () => Promise.resolve([lane({ settled: [answer({})] })]));
    await apply([batch({ traceparent: SAMPLED })]);
    await here.flush();
    const { startNanos, endNanos } = spanNamed(here.receiver.spans, "stand {payment}");
    expect(endNanos - startNanos).toBe(0n);
    expect(startNanos <= spanNamed(here.receiver.spans, "apply {payment}").endNanos).toBe(true);
  });
});

describe("a job", () => {
  const job = { id: "7", family: "payment", name: "payment.captured", stepsBack: 2 } as const;

  test("has a span for each time it is processed, which tells how that ended", async () => {
    const here = await traceThisProcess();
    const process = here.tracing.jobs(async () => Promise.resolve({ kind: "delayed", delayMs: 5 }));
    expect(await process({ ...job, data: envelope({ traceparent: SAMPLED }) })).toEqual({
      kind: "delayed",
      delayMs: 5,
    });
    await here.flush();
    expect(spanNamed(here.receiver.spans, "process {payment}")).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: SPAN_ID,
      attributes: { "junban.job.id": "7", "junban.job.steps_back": 2, "junban.job.end": "delayed" },
    });
  });

  test("without a usable event, or with one in no trace, has none", async () => {
    const here = await traceThisProcess();
    const process = here.tracing.jobs(async () => Promise.resolve({ kind: "completed" }));
    for (const data of ["rubbish", null, envelope({})]) await process({ ...job, data });
    await here.flush();
    expect(here.receiver.spans).toEqual([]);
  });
});

test("updates that the queue refuses have spans that failed, and the relay the same error", async () => {
  const here = await traceThisProcess();
  const error = new QueueUnavailableError({ code: "REDIS_TIMEOUT", detail: "no answer" });
  const updates = here.tracing.updates({
    depth: async () => Promise.resolve(3),
    add: async () => Promise.reject(error),
    close: async () => Promise.resolve(),
  });
  const news = (event: unknown): { lcid: string; version: number; payload: unknown } => ({
    lcid: "A-1",
    version: 1,
    payload: { lcid: "A-1", version: 1, event },
  });
  const told = [news({ traceparent: SAMPLED }), news("rubbish"), { ...news(null), payload: 7 }];
  await expect(updates.add(told)).rejects.toBe(error);
  expect(await updates.depth()).toBe(3);
  await here.flush();
  const kinds = here.receiver.spans.map(({ name, attributes }) => [name, attributes["error.type"]]);
  expect(kinds).toEqual([
    ["publish {order-updates}", "REDIS_TIMEOUT"],
    ["pass on", "REDIS_TIMEOUT"],
  ]);
});

test("a handler that fails has a span that failed, and its consumer the same error", async () => {
  const here = await traceThisProcess();
  const error = new TypeError("canary-message");
  const handler = here.tracing.handler({ name: "billing" }, async () => Promise.reject(error));
  const payload = { lcid: "A-1", version: 4, event: { traceparent: SAMPLED } };
  await expect(handler({ payload }, {})).rejects.toBe(error);
  await here.flush();
  expect(spanNamed(here.receiver.spans, "process {order-updates}")).toMatchObject({
    parentSpanId: SPAN_ID,
    statusCode: 2,
    attributes: { "messaging.consumer.group.name": "billing", "junban.lcid": "A-1", "junban.version": 4 },
  });
  expect(here.receiver.bodies.join("\n")).not.toContain("canary-message");
});
