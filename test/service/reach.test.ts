import { EXIT, UnreachableError, exitCodeOf, reachWithin } from "@junban/service";
import { expect, test } from "vitest";

const ADDRESS = "redis://:canary@cache:6379";

test("says nothing when the service answers at once", async () => {
  const said: string[] = [];
  await reachWithin({
    service: "Redis",
    address: ADDRESS,
    probe: async () => {},
    say: (line) => said.push(line),
  });
  expect(said).toEqual([]);
});

test("says one line an attempt, without the password, until the service answers", async () => {
  const said: string[] = [];
  let attempts = 0;
  await reachWithin({
    service: "Redis",
    address: ADDRESS,
    probe: async () => {
      attempts += 1;
      if (attempts < 3) throw new Error("connect ECONNREFUSED redis://:canary@cache:6379");
    },
    say: (line) => said.push(line),
  });
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(
    /^waiting for Redis at redis:\/\/:\*\*\*@cache:6379 \(0 of 30 s\): connect ECONNREFUSED/,
  );
  expect(said.join()).not.toContain("canary");
});

test("gives up at the limit with a typed error, its cause, and the exit code for it", async () => {
  const cause = new Error("down");
  const failure = await reachWithin({
    service: "Postgres",
    address: "postgres://app:canary@db/orders",
    limitMs: 300,
    probe: async () => {
      throw cause;
    },
    say: () => {},
  }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UnreachableError);
  expect(failure).toMatchObject({ code: "UNREACHABLE", service: "Postgres", cause });
  expect(String(failure)).not.toContain("canary");
  expect(exitCodeOf(failure)).toBe(EXIT.unreachable);
});

test("names as its cause what was heard last, not that the last attempt had no time to hear anything", async () => {
  const cause = new Error("too many connections");
  const failure = await reachWithin({
    service: "Postgres",
    address: "postgres://db/orders",
    limitMs: 300,
    // Slower than the moment that is left to the attempt at the deadline.
    probe: async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw cause;
    },
    say: () => {},
  }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "UNREACHABLE", cause });
});

test("throws at once, as it came, what says that the service is there and will not do", async () => {
  const unfit = new Error("not this one");
  let attempts = 0;
  const failure = await reachWithin({
    service: "Redis",
    address: ADDRESS,
    probe: async () => {
      attempts += 1;
      throw attempts < 2 ? new Error("not yet") : unfit;
    },
    isFinal: (error) => error === unfit,
    say: () => {},
  }).catch((error: unknown) => error);
  expect(failure).toBe(unfit);
  expect(attempts).toBe(2);
});

test("a probe that hangs does not outlast the limit", async () => {
  const failure = await reachWithin({
    service: "Redis",
    address: ADDRESS,
    limitMs: 200,
    probe: async () => new Promise<void>(() => {}),
    say: () => {},
  }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UnreachableError);
});

test("a request to stop ends the waiting at once, as what it is", async () => {
  const stop = new AbortController();
  const reason = new Error("asked to stop");
  const said: string[] = [];
  const waiting = reachWithin({
    service: "Redis",
    address: ADDRESS,
    limitMs: 600_000,
    probe: async () => new Promise<void>(() => {}),
    say: (line) => said.push(line),
    signal: stop.signal,
  });
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(said).toEqual([]);
});
