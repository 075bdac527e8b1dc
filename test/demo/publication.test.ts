import { LaneFullError, type Publisher, type PublishResult } from "@junban/event-queues";
import { identityOf, tellStories } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { expect, test } from "vitest";
import { Publication } from "../../apps/cli/src/demo/publication.ts";

const HOT = "A-HOT";
const stream = tellStories({ seed: 5, orders: 40, hotOrder: { events: 120, lcid: HOT } });

/** Publishers in memory that note what was acknowledged, one after the other. */
class Post {
  readonly received: { event: EventEnvelope; by: number }[] = [];
  readonly #acknowledged = new Set<string>();
  readonly #underWay = new Set<string>();
  readonly repeatsTooEarly: string[] = [];
  #refusals = 0;

  readonly #refuseEvery: number | null;

  constructor(refuseEvery: number | null) {
    this.#refuseEvery = refuseEvery;
  }

  publisher(number: number): Publisher {
    return {
      publish: async () => Promise.reject(new Error("not used")),
      publishAll: async (events) => this.#take(events as readonly EventEnvelope[], number),
      close: async () => undefined,
    };
  }

  async #take(events: readonly EventEnvelope[], by: number): Promise<readonly PublishResult[]> {
    for (const event of events) {
      const identity = identityOf(event);
      const isUnderWay = this.#underWay.has(identity) && !this.#acknowledged.has(identity);
      if (isUnderWay) this.repeatsTooEarly.push(identity);
      this.#underWay.add(identity);
    }
    await new Promise((resolve) => setImmediate(resolve));
    const full = new Set<string>();
    return events.map((event) => {
      this.#underWay.delete(identityOf(event));
      this.#refusals += 1;
      if (this.#refuseEvery !== null && this.#refusals % this.#refuseEvery === 0) full.add(event.lcid);
      const { lcid } = event;
      // As the real publisher does: behind a refused event nothing of its lane is taken.
      if (full.has(lcid)) return { kind: "refused", error: new LaneFullError({ lcid, depth: 10, cap: 10 }) };
      this.#acknowledged.add(identityOf(event));
      this.received.push({ event, by });
      return { kind: "published", lcid, key: "k", depth: 1, priority: 0 };
    });
  }
}

function publicationOn(post: Post): Publication {
  return new Publication({
    stream,
    publishers: [1, 2, 3].map((number) => post.publisher(number)),
    hotPublisher: post.publisher(4),
    hotLcid: HOT,
    seed: 5,
  });
}

test.each([null, 60])(
  "everything is acknowledged in publish order per order (every n-th refused: %s)",
  async (refuseEvery) => {
    const post = new Post(refuseEvery);
    const publication = publicationOn(post);
    await publication.run(AbortSignal.timeout(20_000));
    expect(publication.isComplete).toBe(true);
    expect(post.received).toHaveLength(stream.length);
    expect(post.repeatsTooEarly).toEqual([]);
    const firsts = publication.acknowledged.filter((position) => stream[position]?.repeatOf === null);
    const latest = new Map<string, number>();
    for (const position of firsts) {
      const { lcid } = stream[position]!.event;
      expect(position).toBeGreaterThan(latest.get(lcid) ?? -1);
      latest.set(lcid, position);
    }
    for (const { repeatOf, index } of stream) {
      if (repeatOf === null) continue;
      const order = publication.acknowledged;
      expect(order.indexOf(index)).toBeGreaterThan(order.indexOf(repeatOf));
    }
  },
);

test("each order has one first publisher, and the hot one has one of its own", async () => {
  const post = new Post(null);
  const publication = publicationOn(post);
  await publication.run(AbortSignal.timeout(20_000));
  const publishers = new Map<string, Set<number>>();
  const seen = new Set<string>();
  for (const { event, by } of post.received) {
    const identity = identityOf(event);
    if (seen.has(identity)) continue;
    seen.add(identity);
    publishers.set(event.lcid, (publishers.get(event.lcid) ?? new Set()).add(by));
  }
  expect(publishers.get(HOT)).toEqual(new Set([4]));
  for (const [, of] of publishers) expect(of.size).toBe(1);
  expect(publication.hotAcknowledged).toBe(120);
});

test("an abort ends all publishers with its reason", async () => {
  const post = new Post(1);
  const publication = publicationOn(post);
  const interruption = new AbortController();
  const running = publication.run(interruption.signal);
  const reason = new Error("enough");
  setTimeout(() => interruption.abort(reason), 50);
  await expect(running).rejects.toBe(reason);
});
