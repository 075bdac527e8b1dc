import fc from "fast-check";
import {
  BORN_NAMES,
  deep,
  long,
  objectText,
  ODD_TEXT,
  soundMembers,
  SYNTAX,
  VALUES,
} from "./hostile-content.ts";
import type { Member } from "./hostile-content.ts";
import type { Bytes, Fields, LanePart, QueueName, RedisKind } from "./hostile-lab.ts";

/** One thing that somebody puts into Redis; the orders it is meant for are numbers, and its identity is given when it is done. */
export type Deed =
  | {
      readonly do: "job";
      readonly queue: QueueName;
      readonly order: number;
      readonly data: Text;
      readonly fields: Fields;
    }
  | {
      readonly do: "request";
      readonly order: number;
      readonly key: Bytes | null;
      readonly stamp: string | null;
      readonly body: Text;
    }
  | { readonly do: "part"; readonly order: number; readonly part: LanePart; readonly kind: RedisKind };

/** How a text comes about from the identity of an event. */
export type Text = (identity: { readonly lcid: string; readonly id: string }) => Bytes;

const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...SYNTAX, ...ODD_TEXT),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ unit: "grapheme", maxLength: 80 }),
);

/** JSON for one value, or nearly. */
const value: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...VALUES),
  text.map((chosen) => JSON.stringify(chosen)),
  fc.json({ maxDepth: 4 }),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,5})?$/),
  fc.integer({ min: 1, max: 10_000 }).map(deep),
  fc.integer({ min: 1, max: 200_000 }).map(long),
);

const member: fc.Arbitrary<Member> = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      "specversion",
      "id",
      "source",
      "type",
      "lcid",
      "data",
      "schemaversion",
      "time",
      "invalidpayload",
    ),
    fc.constantFrom(...BORN_NAMES),
    text,
  ),
  value,
);

type Change =
  | { readonly kind: "first" | "last"; readonly member: Member }
  | { readonly kind: "replaced"; readonly at: number; readonly value: string }
  | { readonly kind: "type"; readonly type: string }
  | { readonly kind: "cut"; readonly share: number }
  | { readonly kind: "bytes"; readonly share: number; readonly bytes: Uint8Array };

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constantFrom("first" as const, "last" as const), member }),
  fc.record({ kind: fc.constant("replaced" as const), at: fc.nat({ max: 5 }), value }),
  fc.record({
    kind: fc.constant("type" as const),
    type: fc.constantFrom(
      "payment.captured",
      "line.added",
      "inventory.shipped",
      "cancel.confirmed",
      "order.placed",
    ),
  }),
  fc.record({ kind: fc.constant("cut" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({
    kind: fc.constant("bytes" as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
  }),
);

/** An event to which some things were done. */
const changedEvent: fc.Arbitrary<Text> = fc
  .array(change, { minLength: 1, maxLength: 3 })
  .map((changes) => (identity) => changes.reduce(changed, startOf(identity)).bytes());

interface Draft {
  readonly members: readonly Member[];
  readonly bytes: () => Buffer;
}

function startOf(identity: { readonly lcid: string; readonly id: string }): Draft {
  return draftOf(soundMembers(identity));
}

function draftOf(members: readonly Member[]): Draft {
  return { members, bytes: () => Buffer.from(objectText(members)) };
}

function changed(draft: Draft, one: Change): Draft {
  const { members, bytes } = draft;
  switch (one.kind) {
    case "first":
      return draftOf([one.member, ...members]);
    case "last":
      return draftOf([...members, one.member]);
    case "replaced":
      return draftOf(members.map((known, index) => (index === one.at ? [known[0], one.value] : known)));
    case "type":
      return draftOf(
        members.map((known) => (known[0] === "type" ? [known[0], JSON.stringify(one.type)] : known)),
      );
    case "cut":
      return { members, bytes: () => bytes().subarray(0, Math.floor(one.share * bytes().length)) };
    case "bytes": {
      const at = Math.floor(one.share * bytes().length);
      return {
        members,
        bytes: () => Buffer.concat([bytes().subarray(0, at), one.bytes, bytes().subarray(at)]),
      };
    }
  }
}

const anyText: fc.Arbitrary<Text> = fc.oneof(
  { weight: 6, arbitrary: changedEvent },
  { weight: 1, arbitrary: value.map((chosen) => () => chosen) },
  { weight: 1, arbitrary: text.map((chosen) => () => chosen.toWellFormed()) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => () => Buffer.from(bytes)) },
);

const FIELD_NAMES = [
  "name",
  "opts",
  "rjk",
  "defa",
  "progress",
  "parent",
  "parentKey",
  "ats",
  "atm",
  "stc",
  "stacktrace",
  "returnvalue",
  "failedReason",
  "timestamp",
  "priority",
  "delay",
  "processedOn",
  "pb",
];

const order = fc.nat({ max: 2 });

export const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("job" as const),
      queue: fc.constantFrom(
        "{payment}" as const,
        "{inventory}" as const,
        "{line-item}" as const,
        "{cancel}" as const,
      ),
      order,
      data: anyText,
      fields: fc.oneof(
        { weight: 3, arbitrary: fc.constant({}) },
        {
          weight: 1,
          arbitrary: fc.dictionary(
            fc.constantFrom(...FIELD_NAMES),
            fc.oneof(
              value,
              text.map((odd) => odd.toWellFormed()),
            ),
            { maxKeys: 3 },
          ),
        },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("request" as const),
      order,
      key: fc.oneof(
        { weight: 3, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
      ),
      stamp: fc.option(fc.constantFrom("", "x:", "-1:", "1e999:", "99999999999999999999:"), {
        freq: 3,
        nil: null,
      }),
      body: anyText,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("part" as const),
      order,
      part: fc.constantFrom(
        "lock" as const,
        "wait" as const,
        "body" as const,
        "seat" as const,
        "done" as const,
        "tries" as const,
      ),
      kind: fc.constantFrom("string" as const, "list" as const, "hash" as const, "set" as const),
    }),
  },
);
