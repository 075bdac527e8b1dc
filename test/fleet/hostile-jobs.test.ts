import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  BORN_NAMES,
  deep,
  eventText,
  long,
  objectText,
  ODD_TEXT,
  soundData,
  soundMembers,
  SYNTAX,
} from "./hostile-content.ts";
import type { Member } from "./hostile-content.ts";
import { Bystanders, expectServed, Intruder } from "./hostile-lab.ts";
import type { Bytes, Fields, PlantedJob } from "./hostile-lab.ts";
import { eventsOf, freshPlace, poolOf, publish, SHORT_LEASE, startWorker } from "./worker-lab.ts";
import type { Place } from "./worker-lab.ts";

const LIMIT_MS = 120_000;

const NOT_JSON = "failed: its data is not JSON";
const NO_OBJECT = "failed: event: a JSON object";
const NO_VERSION = 'failed: specversion: the string "1.0"';
const INVALID = "rejected INVALID_PAYLOAD";
const NAME_RULE = "a string of 1 to 256 characters without control characters or lone surrogates";

interface Case {
  readonly what: string;
  readonly data: Bytes;
  readonly fields: Fields;
  /** `failed: why` for a job that can have no place, else the outcome and reason on record under `/hostile` and the case's number. */
  readonly ends: string;
}

/** Collects cases; each is an event of the same order, whose number is its id. */
class Cases {
  readonly all: Case[] = [];
  readonly #lcid: string;

  constructor(lcid: string) {
    this.#lcid = lcid;
  }

  get identity(): { readonly lcid: string; readonly id: string } {
    return { lcid: this.#lcid, id: String(this.all.length) };
  }

  add(what: string, ends: string, data: Bytes, fields: Fields = {}): void {
    this.all.push({ what, ends, data, fields });
  }

  event(what: string, ends: string, ...over: readonly Member[]): void {
    this.add(what, ends, eventText(this.identity, over));
  }

  data(what: string, ends: string, ...more: readonly Member[]): void {
    this.event(what, ends, ["data", soundData(this.identity.id, ...more)]);
  }
}

function addBytes(cases: Cases): void {
  cases.add("no JSON", NOT_JSON, "this is not JSON");
  cases.add("half an event", NOT_JSON, eventText(cases.identity).slice(0, 80));
  cases.add("bytes that are no text", NOT_JSON, Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]));
  cases.add("NUL", NOT_JSON, "\0\0");
  cases.add("one megabyte of x", NOT_JSON, "x".repeat(1_000_000));
  cases.add("10,000 opening brackets", NOT_JSON, "[".repeat(10_000));
  cases.add("10,000 levels", NO_OBJECT, deep(10_000));
  for (const value of [
    "null",
    "true",
    "0",
    "1e400",
    '""',
    '"text"',
    "[]",
    `[${eventText(cases.identity)}]`,
  ]) {
    cases.add(`${value.slice(0, 10)} in place of an object`, NO_OBJECT, value);
  }
  for (const value of ["", "{}", '{"__proto__":{"specversion":"1.0"}}']) cases.add(value, NO_VERSION, value);
}

function addEnvelopes(cases: Cases): void {
  for (const value of ['"2.0"', '"1.0 "', "1.0", "null", "[]"]) {
    cases.event(`specversion ${value}`, NO_VERSION, ["specversion", value]);
  }
  for (const name of ["id", "source", "type"]) {
    for (const value of [
      "1",
      "null",
      "{}",
      "[]",
      '""',
      '"\\u0000"',
      '"\\ud800"',
      '"\\u001b[2J"',
      '"a\\r\\nb"',
      long(257),
      long(1_000_000),
    ]) {
      cases.event(`${name} ${value.slice(0, 20)}`, `failed: ${name}: ${NAME_RULE}`, [name, value]);
    }
  }
  const lcidRule = "failed: lcid: 1 to 128 characters of 0-9 A-Z a-z . _ : @ / + = ~ -";
  const odd = [...SYNTAX, ...ODD_TEXT].filter((text) => text !== "../../etc/passwd");
  for (const value of odd.map((text) => JSON.stringify(text))) {
    cases.event(`lcid ${value.slice(0, 30)}`, lcidRule, ["lcid", value]);
  }
  cases.event("an unknown type with syntax in it", "deferred UNSUPPORTED", [
    "type",
    JSON.stringify(SYNTAX[0]),
  ]);
  cases.event("a schema version that is none", INVALID, ["schemaversion", "1e400"]);
  cases.event("a verdict that somebody forged", INVALID, ["invalidpayload", '{"field":"x","rule":"y"}']);
}

function addData(cases: Cases): void {
  for (const value of ["null", "[]", '"x"', "0", "{}"]) {
    cases.event(`data ${value}`, INVALID, ["data", value]);
  }
  const bad = [
    "1e400",
    "-1e400",
    "1e308",
    "9007199254740993",
    '"\\u0000"',
    '"\\ud800"',
    deep(33),
    deep(10_000),
    long(70_000),
    long(1_000_000),
  ];
  for (const value of bad) cases.data(`a field ${value.slice(0, 20)}`, INVALID, ["x", value]);
  for (const amount of ["-0", "-5", "10.005", '"10"', "1e13", "1e-400", "null", "[10]"]) {
    cases.data(`amount ${amount}`, INVALID, ["amount", amount]);
  }
  cases.data("a key with NUL", INVALID, ["a\0b", "1"]);
  cases.data("__proto__", INVALID, ["__proto__", '{"isAdmin":true}']);
  cases.data("constructor.prototype", INVALID, ["constructor", '{"prototype":{"isAdmin":true}}']);
}

/** Odd, and all the same no reason to refuse an event. */
function addAllowed(cases: Cases): void {
  for (const name of BORN_NAMES.slice(2)) cases.data(`a field called ${name}`, "applied", [name, "1"]);
  for (const value of [
    "-0",
    "1e-400",
    "1e-20000",
    '"\\u001b[2J"',
    '"\\u202egnp.exe"',
    '"e\\u0301"',
    deep(31),
  ]) {
    cases.data(`a field ${value.slice(0, 20)}`, "applied", ["x", value]);
  }
  const twice: Member[] = [
    ["data", '"\\u0000"'],
    ["lcid", '"elsewhere"'],
    ["specversion", "0"],
  ];
  cases.add(
    "of repeated keys the last counts",
    "applied",
    objectText([...twice, ...soundMembers(cases.identity)]),
  );
  cases.add("spaces and a line's end around it", "applied", ` \r\n\t${eventText(cases.identity)}\n`);
  const fields: readonly Fields[] = [
    { opts: "{not JSON" },
    { rjk: "scheduler" },
    { parent: "{" },
    { ats: "lots" },
    { defa: "x" },
  ];
  for (const one of fields) {
    cases.add(`beside it ${JSON.stringify(one)}`, "applied", eventText(cases.identity), one);
  }
}

/** How a case's job ended: what BullMQ says of it, or what is on record of its event. */
async function endOf(place: Place, intruder: Intruder, job: PlantedJob, id: number): Promise<string | null> {
  const end = await intruder.endOf(job);
  if (end !== "gone") return end;
  const { rows } = await poolOf(place).query<{ outcome: string; reason: string | null }>(
    "SELECT outcome, reason FROM order_events WHERE source = '/hostile' AND event_id = $1",
    [String(id)],
  );
  return rows.map(({ outcome, reason }) => (reason === null ? outcome : `${outcome} ${reason}`)).join(", ");
}

test(
  "every raw job ends, with a reason or a row in its place, and its neighbours do not notice",
  async () => {
    const place = await freshPlace();
    const intruder = new Intruder(place);
    const cases = new Cases("beset");
    for (const add of [addBytes, addEnvelopes, addData, addAllowed]) add(cases);
    await publish(place, eventsOf("beset", 2));
    const worker = await startWorker(place, SHORT_LEASE);
    const bystanders = await Bystanders.watch(place, worker);
    await expectServed(place, ["beset"], 2);
    const jobs: PlantedJob[] = [];
    for (const one of cases.all) jobs.push(await intruder.plantJob(one));
    await publish(place, [...eventsOf("beset", 6).slice(2), ...eventsOf("quiet", 6)]);
    await expectServed(place, ["beset", "quiet"], 6);
    await eventually(
      async () => {
        const ends = await Promise.all(jobs.map((job, id) => endOf(place, intruder, job, id)));
        const told = (end: (one: Case, id: number) => string | null): string[] =>
          cases.all.map((one, id) => `${one.what}: ${end(one, id)}`);
        expect(told((_one, id) => ends[id] ?? null)).toEqual(told(({ ends: expected }) => expected));
      },
      { withinMs: 30_000, everyMs: 250 },
    );
    await bystanders.expectUnharmed();
    expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
  },
  LIMIT_MS,
);
