import { describe, expect, test } from "vitest";
import { Attempts } from "../../apps/console/src/attempts.ts";
import { LoginDesk } from "../../apps/console/src/login-desk.ts";
import { hashPassword, isPassword, isPasswordHash } from "../../apps/console/src/passwords.ts";
import { Sessions } from "../../apps/console/src/sessions.ts";
import { HASH, PASSWORD } from "./console-process.ts";

const OLGA = { name: "olga", role: "operator" } as const;

describe("a session", () => {
  function book() {
    const clock = { nowMs: 0 };
    const sessions = new Sessions({ idleMs: 1_000, longestMs: 5_000, nowMs: () => clock.nowMs });
    return { clock, sessions };
  }

  test("is known by its cookie and by nothing else", () => {
    const { sessions } = book();
    const cookie = sessions.begin(OLGA);
    expect(sessions.of(cookie)).toMatchObject(OLGA);
    expect(sessions.of(`${cookie}x`)).toBeNull();
    expect(sessions.begin(OLGA)).not.toBe(cookie);
  });

  test("ends when nobody used it for a while, and lasts while somebody does", () => {
    const { clock, sessions } = book();
    const cookie = sessions.begin(OLGA);
    for (clock.nowMs = 900; clock.nowMs < 2_000; clock.nowMs += 900) {
      expect(sessions.of(cookie)).not.toBeNull();
    }
    // Last used at 1,800.
    clock.nowMs = 2_800;
    expect(sessions.of(cookie)).toBeNull();
  });

  test("ends after its longest time, however much it was used", () => {
    const { clock, sessions } = book();
    const cookie = sessions.begin(OLGA);
    for (clock.nowMs = 0; clock.nowMs < 5_000; clock.nowMs += 500) {
      expect(sessions.of(cookie)).not.toBeNull();
    }
    expect(sessions.of(cookie)).toBeNull();
  });

  test("tells whoever still listens that it is over, by itself and by logging out", () => {
    const { clock, sessions } = book();
    const [idle, left] = [sessions.begin(OLGA), sessions.begin(OLGA)];
    const ends = [idle, left].map((cookie) => sessions.of(cookie)?.ended);
    sessions.end(left);
    expect(ends.map((ended) => ended?.aborted)).toEqual([false, true]);
    clock.nowMs = 1_000;
    sessions.sweep();
    expect(ends.map((ended) => ended?.aborted)).toEqual([true, true]);
  });

  test("makes room for others: the one that was idle longest goes when there are too many", () => {
    const { clock, sessions } = book();
    const first = sessions.begin(OLGA);
    const second = sessions.begin(OLGA);
    clock.nowMs = 1;
    expect(sessions.of(first)).not.toBeNull();
    for (let more = 0; more < 999; more += 1) sessions.begin(OLGA);
    expect(sessions.of(second)).toBeNull();
    expect(sessions.of(first)).not.toBeNull();
  });
});

describe("a password", () => {
  test("is known by its hash, which differs each time and does not hold it", async () => {
    const [one, other] = await Promise.all([
      hashPassword("tea and biscuits"),
      hashPassword("tea and biscuits"),
    ]);
    expect(one).not.toBe(other);
    expect(isPasswordHash(one)).toBe(true);
    expect(one).not.toContain("tea");
    expect(await isPassword("tea and biscuits", one)).toBe(true);
    expect(await isPassword("tea and biscuit", one)).toBe(false);
  });

  test("typed composed or decomposed is the same", async () => {
    expect(await isPassword("cafe\u0301 au lait", await hashPassword("caf\u00E9 au lait"))).toBe(true);
  });

  test("cannot be made to cost minutes by a hash that says so", async () => {
    const dear = HASH.replace("ln=14", "ln=24");
    expect(isPasswordHash(dear)).toBe(false);
    expect(await isPassword(PASSWORD, dear)).toBe(false);
  });
});

describe("logging in", () => {
  function desk(nowMs: () => number = () => 0) {
    return new LoginDesk({
      users: [{ ...OLGA, password: HASH }],
      byName: new Attempts({ most: 3, everyMs: 30_000, nowMs }),
      byAddress: new Attempts({ most: 5, everyMs: 5_000, nowMs }),
    });
  }
  const wrong = { name: "olga", password: "a wrong guess", address: "10.0.0.1" };
  const right = { ...wrong, password: PASSWORD };

  test("takes the right password of a known name, and says no more than no to anything else", async () => {
    const open = desk();
    expect(await open.ask(right)).toEqual({ kind: "known", ...OLGA });
    expect(await open.ask(wrong)).toEqual({ kind: "wrong" });
    expect(await open.ask({ ...right, name: "nobody" })).toEqual({ kind: "wrong" });
  });

  test("is not tried too often for one name, from however many addresses, and later again", async () => {
    let now = 0;
    const open = desk(() => now);
    for (let at = 1; at <= 3; at += 1) {
      expect((await open.ask({ ...wrong, address: `10.0.0.${at}` })).kind).toBe("wrong");
    }
    expect(await open.ask({ ...right, address: "10.0.0.9" })).toEqual({ kind: "later", afterMs: 30_000 });
    now = 30_000;
    expect((await open.ask({ ...right, address: "10.0.0.9" })).kind).toBe("known");
  });

  test("is not tried too often from one address, for however many names", async () => {
    const open = desk();
    for (let at = 1; at <= 5; at += 1) {
      expect((await open.ask({ ...wrong, name: `user-${at}` })).kind).toBe("wrong");
    }
    expect((await open.ask(right)).kind).toBe("later");
  });

  test("that succeeds is no attempt, so that nobody locks themselves out by working", async () => {
    const open = desk();
    for (let at = 1; at <= 4; at += 1) expect((await open.ask(right)).kind).toBe("known");
  });

  test("is tried by two at once and no more, since each takes a core and 32 MiB", async () => {
    const open = desk();
    const kinds = (await Promise.all([open.ask(right), open.ask(right), open.ask(right)])).map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(["known", "known", "later"]);
  });
});
