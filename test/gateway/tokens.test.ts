import type * as Crypto from "node:crypto";
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { RateLimit } from "../../apps/gateway/src/rate-limit.ts";
import { TokenBook } from "../../apps/gateway/src/token-book.ts";

const compared = vi.hoisted(() => vi.fn());

vi.mock("node:crypto", async (importOriginal) => {
  const crypto = await importOriginal<typeof Crypto>();
  compared.mockImplementation(crypto.timingSafeEqual);
  return { ...crypto, timingSafeEqual: compared };
});

const TOKENS = ["first", "second", "third"].map((name) => name.padEnd(32, "-"));

const entryOf = (token: string, name: string) => ({
  name,
  sha256: createHash("sha256").update(token).digest("hex"),
  sources: [`/${name}`],
});

const book = new TokenBook(TOKENS.map((token, index) => entryOf(token, `sender-${index}`)));

describe("a token", () => {
  beforeEach(() => {
    compared.mockClear();
  });

  test("is known by its hash, and sends for its own sources and no other", () => {
    const sender = book.senderOf(`Bearer ${TOKENS[1]}`);
    expect(sender?.name).toBe("sender-1");
    expect(
      ["/sender-1", "/sender-0", "/sender-1/", "/SENDER-1", ""].map((source) => sender?.maySend(source)),
    ).toEqual([true, false, false, false, false]);
  });

  test.each([undefined, "", "Bearer", `Bearer ${TOKENS[1]}x`, `Basic ${TOKENS[1]}`, ` Bearer ${TOKENS[1]}`])(
    "is not found in %j",
    (authorization) => {
      expect(book.senderOf(authorization)).toBeNull();
    },
  );

  test("is not its hash: who has read the list has no token", () => {
    const { sha256 } = entryOf(TOKENS[0] ?? "", "sender-0");
    expect(book.senderOf(`Bearer ${sha256}`)).toBeNull();
  });

  test("that is short enough to be guessed is never known, whatever the list says", () => {
    const weak = new TokenBook([entryOf("hunter2", "weak")]);
    expect(weak.senderOf("Bearer hunter2")).toBeNull();
  });

  test("is compared in constant time with every hash, also behind the one that fits", () => {
    book.senderOf(`Bearer ${TOKENS[0]}`);
    expect(compared).toHaveBeenCalledTimes(TOKENS.length);
    expect(compared.mock.results.map(({ value }) => value as boolean)).toEqual([true, false, false]);
  });
});

describe("a sender's bucket", () => {
  test("holds a minute's worth and fills steadily", () => {
    let nowMs = 0;
    const limit = new RateLimit({ perMinute: 60, nowMs: () => nowMs });
    const sender = {};
    expect(limit.take(sender, 50)).toBe(0);
    expect(limit.take(sender, 20)).toBe(10_000);
    nowMs = 9_999;
    expect(limit.take(sender, 20)).toBeGreaterThan(0);
    nowMs = 10_000;
    expect(limit.take(sender, 20)).toBe(0);
    nowMs = 10_000_000;
    expect(limit.take(sender, 60)).toBe(0);
    expect(limit.take(sender, 1)).toBe(1_000);
  });

  test("has room when it said it would, for the whole of a batch of which one was taken before", () => {
    let nowMs = 0;
    const limit = new RateLimit({ perMinute: 60, nowMs: () => nowMs });
    const sender = {};
    const attempt = (events: number): number => {
      const waitMs = limit.take(sender, 1);
      return waitMs > 0 ? waitMs : limit.take(sender, events, { already: 1 });
    };
    expect(attempt(50)).toBe(0);
    for (const events of [50, 1_000]) {
      const waitMs = attempt(events);
      expect(waitMs).toBeGreaterThan(0);
      nowMs += waitMs;
      expect(attempt(events)).toBe(0);
      // Enough for the one that is taken first.
      nowMs += 1_000;
    }
  });

  test("is no other sender's, and lets a batch that is larger than itself pass when it is full", () => {
    const limit = new RateLimit({ perMinute: 60, nowMs: () => 0 });
    const [one, other] = [{}, {}];
    expect(limit.take(one, 1_000)).toBe(0);
    expect(limit.take(one, 1)).toBeGreaterThan(0);
    expect(limit.take(other, 1)).toBe(0);
  });
});
