import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import { deep, eventText, objectText, soundMembers, SYNTAX } from "./hostile-content.ts";
import { Bystanders, expectServed, Intruder, requestKey, stamped } from "./hostile-lab.ts";
import type { Bytes, LanePart, RedisKind } from "./hostile-lab.ts";
import { eventsOf, freshPlace, poolOf, publish, SHORT_LEASE, startWorker } from "./worker-lab.ts";
import type { Place } from "./worker-lab.ts";

const LIMIT_MS = 120_000;
const UNREADABLE = "rejected INVALID_PAYLOAD, unreadable";

interface Case {
  readonly what: string;
  readonly plant: (intruder: Intruder, lcid: string) => Promise<unknown>;
  /** What is on record of it in its order, besides the order's own events. */
  readonly leaves: readonly string[];
}

function request(
  what: string,
  leaves: readonly string[],
  { stored, key = requestKey() }: { stored: (lcid: string) => Bytes; key?: Bytes },
): Case {
  return {
    what,
    leaves,
    plant: (intruder, lcid) => intruder.plantRequest(lcid, { key, stored: stored(lcid) }),
  };
}

function kind(part: LanePart, found: RedisKind): Case {
  const what = `a ${found} where the lane keeps its ${part}`;
  return {
    what,
    leaves: [],
    plant: (intruder, lcid) => intruder.plantKind(intruder.laneKey(part, lcid), found),
  };
}

const eventOf = (lcid: string): string => eventText({ lcid, id: lcid });

const BODIES: readonly Case[] = [
  ...["this is not JSON", "", "null", "[]", "{}", deep(100_000), "x".repeat(1_000_000)].flatMap((text) => [
    request(`the body ${text.slice(0, 20)}`, [UNREADABLE], { stored: () => stamped(text) }),
    request(`the text ${text.slice(0, 20)}, without a time`, [UNREADABLE], { stored: () => text }),
  ]),
  request("bytes that are no text", [UNREADABLE], { stored: () => Buffer.from([0xff, 0xfe, 0x3a, 0x00]) }),
  request("an event without a time", ["applied"], { stored: eventOf }),
  ...["99999999999999999999", "1e999", "-1", "NaN", "12:34"].map((time) =>
    request(`an event at the time ${time}`, [UNREADABLE], { stored: (lcid) => `${time}:${eventOf(lcid)}` }),
  ),
  request("an event of another order", [UNREADABLE], { stored: () => stamped(eventOf("somebody-else")) }),
  request("keys that are repeated", ["applied"], {
    stored: (lcid) =>
      stamped(objectText([["data", '"\\u0000"'], ["data", "1e200000"], ...soundMembers({ lcid, id: lcid })])),
  }),
];

const STRAY_KEYS: readonly Bytes[] = [
  "",
  "a b",
  "a\0b",
  "ключ",
  "x".repeat(100_000),
  Buffer.from([0xff, 0xfe]),
];
const KEYS: readonly Case[] = [
  request("a key of syntax", [UNREADABLE], {
    stored: () => stamped("x"),
    key: "');DROP/**/TABLE/**/orders;--",
  }),
  ...[...STRAY_KEYS, ...SYNTAX.filter((text) => /[^!-~]/.test(text))].map((key) =>
    request(`a key that is none: ${JSON.stringify(String(key)).slice(0, 20)}`, [], {
      stored: (lcid) => stamped(eventOf(lcid)),
      key,
    }),
  ),
  {
    what: "entries without bodies",
    leaves: [],
    plant: (intruder, lcid) => intruder.redis.rpush(intruder.laneKey("wait", lcid), "k1", "k2", "k1"),
  },
  {
    what: "bodies without entries",
    leaves: [],
    plant: (intruder, lcid) => intruder.redis.hset(intruder.laneKey("body", lcid), "k1", "x", "k2", "y"),
  },
];

const KINDS: readonly Case[] = [
  ...(["list", "hash"] as const).map((found) => kind("lock", found)),
  ...(["string", "set"] as const).map((found) => kind("wait", found)),
  ...(["string", "list"] as const).map((found) => kind("body", found)),
  ...(["string", "list"] as const).map((found) => kind("seat", found)),
  ...(["string", "set"] as const).map((found) => kind("done", found)),
  ...(["string", "hash"] as const).map((found) => kind("tries", found)),
  {
    what: "a lock that nobody holds and that never lapses",
    leaves: [],
    plant: (intruder, lcid) => intruder.redis.set(intruder.laneKey("lock", lcid), "somebody"),
  },
];

/** What is on record in an order besides its own events. */
async function leftIn(place: Place, lcid: string): Promise<string[]> {
  const { rows } = await poolOf(place).query<{ outcome: string; reason: string | null; type: string }>(
    "SELECT outcome, reason, type FROM order_events WHERE lcid = $1 AND source <> '/lab'",
    [lcid],
  );
  return rows.map(({ outcome, reason, type }) =>
    reason === null ? outcome : `${outcome} ${reason}, ${type}`,
  );
}

test(
  "whatever stands in a line, or under its keys, is decided in its place or dropped, and its order goes on",
  async () => {
    const place = await freshPlace();
    const intruder = new Intruder(place);
    const worker = await startWorker(place, SHORT_LEASE);
    const bystanders = await Bystanders.watch(place, worker);
    const cases = [...BODIES, ...KEYS, ...KINDS].map((one, index) => ({ ...one, lcid: `case-${index}` }));
    const lcids = [...cases.map(({ lcid }) => lcid), "quiet"];
    await publish(
      place,
      lcids.flatMap((lcid) => eventsOf(lcid, 2)),
    );
    await expectServed(place, lcids, 2);
    // Each one once where events follow, and once where nothing does, so that only the sweeper can find it.
    for (const { plant, lcid } of cases) {
      await plant(intruder, lcid);
      await plant(intruder, `${lcid}-left`);
    }
    const foreign = intruder.laneKey("wait", "'); DROP TABLE orders;--");
    await intruder.plantKind(foreign, "list");
    await publish(
      place,
      lcids.flatMap((lcid) => eventsOf(lcid, 5).slice(2)),
    );
    await expectServed(place, lcids, 5);
    for (const { what, lcid, leaves } of cases) {
      expect([what, await leftIn(place, lcid)]).toEqual([what, leaves]);
    }
    await eventually(
      async () => {
        for (const { what, lcid } of cases) {
          expect([what, await intruder.isServed(lcid), await intruder.isServed(`${lcid}-left`)]).toEqual([
            what,
            true,
            true,
          ]);
        }
      },
      { withinMs: 60_000, everyMs: 250 },
    );
    expect(await intruder.redis.llen(foreign)).toBe(2);
    await bystanders.expectUnharmed();
  },
  LIMIT_MS,
);
