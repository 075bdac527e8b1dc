import { QueueUnavailableError, type OrderNews } from "@junban/event-queues";
import type { News } from "@junban/order-store";
import { describe, expect, test } from "vitest";
import { passOn } from "../../packages/relay/src/passing-on.ts";

/** A queue that refuses what the test names, as Redis would answer it. */
function queueThat(refuses: (news: OrderNews) => QueueUnavailableError | null): {
  add(news: readonly OrderNews[]): Promise<void>;
  readonly taken: string[];
} {
  const taken: string[] = [];
  return {
    taken,
    add: async (news) => {
      for (const one of news) {
        const refusal = refuses(one);
        if (refusal !== null) throw refusal;
        taken.push(nameOf(one));
      }
    },
  };
}

const REFUSED = new QueueUnavailableError({
  code: "REDIS_REFUSED",
  detail: "Redis answered with an error (ERR no)",
});
const AWAY = new QueueUnavailableError({ code: "REDIS_AWAY", detail: "there is no Redis" });

let nextId = 0;
function newsOf(...names: readonly string[]): News[] {
  return names.map((name) => {
    const [lcid = "", version] = name.split(" ");
    nextId += 1;
    return {
      id: nextId,
      lcid,
      version: Number(version),
      payload: { lcid, version: Number(version) },
      ageMs: 0,
    };
  });
}

function nameOf({ lcid, version }: { readonly lcid: string; readonly version: number }): string {
  return `${lcid} ${version}`;
}

describe("passing news on", () => {
  test("names the ones that are refused while others are taken, and takes the later ones of other orders", async () => {
    const queue = queueThat((news) => (nameOf(news) === "A 2" ? REFUSED : null));

    const { passed, refused, trouble } = await passOn(newsOf("A 1", "A 2", "B 1", "A 3", "B 2"), queue, {
      signal: new AbortController().signal,
    });

    // A 3 waits until it is settled that A 2 goes nowhere.
    expect(passed.map(nameOf)).toEqual(["A 1", "B 1", "B 2"]);
    expect(refused.map(({ news }) => nameOf(news))).toEqual(["A 2"]);
    expect(refused[0]?.reason).toContain("ERR no");
    expect(trouble).toBeNull();
  });

  test("blames the queue when it takes nothing at all", async () => {
    const queue = queueThat(() => REFUSED);

    expect(await passOn(newsOf("A 1", "B 1"), queue, { signal: new AbortController().signal })).toEqual({
      passed: [],
      refused: [],
      trouble: REFUSED,
    });
  });

  test("tries nothing by itself while Redis is away", async () => {
    let calls = 0;
    const queue = queueThat(() => {
      calls += 1;
      return AWAY;
    });

    expect(await passOn(newsOf("A 1", "B 1"), queue, { signal: new AbortController().signal })).toEqual({
      passed: [],
      refused: [],
      trouble: AWAY,
    });
    expect(calls).toBe(1);
  });

  test("tells what was taken before Redis went away in the middle", async () => {
    let isAway = false;
    const queue = queueThat((news) => {
      if (isAway) return AWAY;
      if (nameOf(news) !== "B 1") return null;
      isAway = true;
      return REFUSED;
    });

    const { passed, refused, trouble } = await passOn(newsOf("A 1", "B 1", "C 1"), queue, {
      signal: new AbortController().signal,
    });

    expect({ passed: passed.map(nameOf), refused, trouble }).toEqual({
      passed: [],
      refused: [],
      trouble: AWAY,
    });
  });
});
