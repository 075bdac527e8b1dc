import { createPublisher } from "@junban/event-queues";
import { consumeOrderUpdates } from "@junban/order-updates";
import { expect, onTestFinished, test } from "vitest";
import {
  authorized,
  freshLcid,
  freshPlace,
  placed,
  rowsOf,
  startWorker,
  type Place,
  type WorkerProcess,
} from "../fleet/worker-lab.ts";
import { eventually } from "../support/index.ts";
import { picture, spanNamed } from "./connected.ts";
import { SERVICE, traceThisProcess, type TracedProcess } from "./lab.ts";

const LIMIT_MS = 120_000;
const REMOTE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

interface Stage {
  readonly place: Place;
  readonly here: TracedProcess;
  readonly worker: WorkerProcess;
  readonly handled: number[];
  readonly publish: (...events: readonly object[]) => Promise<void>;
}

/** A worker with its relay, a publisher and a subscriber in this process, all of them traced. */
async function openStage(): Promise<Stage> {
  const here = await traceThisProcess();
  const place = await freshPlace();
  const { redisUrl: redis, prefix } = place;
  const handled: number[] = [];
  const consumer = await consumeOrderUpdates(
    { redis, prefix, name: "billing" },
    here.tracing.handler({ name: "billing" }, async ({ version }) => {
      handled.push(version);
      return Promise.resolve();
    }),
  );
  onTestFinished(async () => consumer.close({ deadlineMs: 2_000 }));
  const publisher = here.tracing.publisher(createPublisher({ redis, prefix, timeoutMs: 30_000 }));
  onTestFinished(async () => publisher.close());
  const worker = await startWorker(place, {
    JUNBAN_RELAY: "on",
    OTEL_EXPORTER_OTLP_ENDPOINT: here.receiver.url,
  });
  const publish = async (...events: readonly object[]): Promise<void> => {
    const results = await publisher.publishAll(events);
    expect(results.filter(({ kind }) => kind === "refused")).toEqual([]);
  };
  return { place, here, worker, handled, publish };
}

test(
  "an event is one connected trace from its publisher over job, lane, transaction and relay to a subscriber's handler",
  async () => {
    const { here, worker, handled, publish } = await openStage();
    const lcid = freshLcid();
    await publish(placed(lcid), authorized(lcid, { number: 1, ref: "canary-reference" }));
    await eventually(() => expect(handled).toEqual([1, 2]), { withinMs: 30_000 });
    worker.tree.signal("SIGTERM");
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    await here.flush();
    const { spans, bodies } = here.receiver;

    const published = spanNamed(spans, "publish {payment}");
    expect(picture(spans, published.traceId)).toEqual([
      "publish {payment}",
      "publish {payment} > apply {payment}",
      "publish {payment} > process {order-updates}",
      "publish {payment} > process {payment}",
      "publish {payment} > publish {order-updates}",
      "publish {payment} > stand {payment}",
    ]);
    const applied = spanNamed(spans, "apply {payment}");
    expect(applied.attributes).toEqual({
      "messaging.system": "bullmq",
      "messaging.destination.name": "{payment}",
      "messaging.operation.name": "apply",
      "messaging.operation.type": "process",
      "messaging.message.id": `${lcid}-1`,
      "cloudevents.event_id": `${lcid}-1`,
      "cloudevents.event_source": "/lab",
      "cloudevents.event_type": "payment.authorized",
      "junban.lcid": lcid,
      "junban.outcome": "applied",
      "junban.repeat": false,
      "junban.version": 2,
    });
    const services = new Set(spans.map(({ service }) => service));
    expect([...services].toSorted()).toEqual(["junban-worker", SERVICE]);
    // A transaction serves many events and is nobody's child: they and it are linked.
    const transaction = spans.find(({ spanId }) => spanId === applied.links[0]?.spanId);
    expect(transaction).toMatchObject({ name: "transaction", parentSpanId: "" });
    expect(transaction?.links).toContainEqual({ traceId: published.traceId, spanId: published.spanId });
    const passedOn = spans.filter(({ name }) => name === "pass on").flatMap(({ links }) => links);
    expect(passedOn).toContainEqual({ traceId: published.traceId, spanId: published.spanId });
    // The lane's time ends where the transaction begins.
    const stood = spanNamed(spans, "stand {payment}");
    expect(stood.startNanos <= stood.endNanos && stood.endNanos <= transaction!.endNanos).toBe(true);
    expect(spans.every(({ statusCode }) => statusCode !== 2)).toBe(true);
    expect(bodies.join("\n")).not.toContain("canary-reference");
  },
  LIMIT_MS,
);

test(
  "an event that is in a trace already stays in it, and the same event published again in another trace is applied once",
  async () => {
    const { place, here, handled, publish } = await openStage();
    const lcid = freshLcid();
    const event = { ...placed(lcid), traceparent: REMOTE, tracestate: "vendor=opaque" };
    await publish(event);
    await publish(placed(lcid));
    await publish(authorized(lcid, { number: 1 }));
    await eventually(() => expect(handled).toEqual([1, 2]), { withinMs: 30_000 });
    expect((await rowsOf(place)).map(({ id, outcome }) => [id, outcome])).toEqual([
      [`${lcid}-0`, "applied"],
      [`${lcid}-1`, "applied"],
    ]);
    const traceId = REMOTE.split("-")[1] ?? "";
    await eventually(() => {
      expect(picture(here.receiver.spans, traceId)).toEqual(
        expect.arrayContaining([
          "somebody unknown > apply {line-item}",
          "somebody unknown > process {order-updates}",
          "somebody unknown > publish {line-item}",
          "somebody unknown > publish {order-updates}",
        ]),
      );
    });
    const own = here.receiver.spans.filter((span) => span.traceId === traceId);
    expect(own.every(({ traceState }) => traceState === "vendor=opaque")).toBe(true);
  },
  LIMIT_MS,
);
