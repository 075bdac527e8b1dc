import assert from "node:assert/strict";
import type { LaneReport, LaneView, LeftOutcome, LinePlace, StandingRequest } from "./contract.ts";

export type EnterReply =
  | { readonly kind: "settled"; readonly value: string }
  | { readonly kind: "turn"; readonly tries: number; readonly requests: readonly StandingRequest[] }
  | { readonly kind: "waiting"; readonly position: number; readonly head: string }
  | { readonly kind: "absent" };

export type HandoffReply =
  | { readonly kind: "lost" | "released" | "yielded" }
  | { readonly kind: "next"; readonly requests: readonly StandingRequest[] };

export function asArray(reply: unknown): readonly unknown[] {
  assert(Array.isArray(reply), "a script of this package answers with an array");
  return reply;
}

/** What stamp.lua puts in front: milliseconds since 1970. */
const STAMP = /^\d{13}:/;
const STAMP_LENGTH = 14;

/**
 * Stored outcomes and bodies carry the time they were stored at in front. A text without one was not stored by these scripts:
 * it is handed out as it is, and counts as stored now.
 */
function splitStamp(stored: string): { atMs: number; text: string } {
  if (!STAMP.test(stored)) return { atMs: Date.now(), text: stored };
  return { atMs: Number(stored.slice(0, STAMP_LENGTH - 1)), text: stored.slice(STAMP_LENGTH) };
}

function requestsFrom(items: readonly unknown[], first: number): StandingRequest[] {
  const requests: StandingRequest[] = [];
  for (let index = first; index < items.length; index += 2) {
    const { atMs, text } = splitStamp(String(items[index + 1]));
    requests.push({ key: String(items[index]), body: text, publishedAtMs: atMs });
  }
  return requests;
}

const KEY = /^[!-~]{1,128}$/;

/** What a caller may give as a request's key: it has to survive the way to Redis and back. */
export function isRequestKey(key: unknown): key is string {
  return typeof key === "string" && KEY.test(key);
}

/** Whether every request that comes with a turn can be settled under its key. */
export function isSoundEnter(reply: unknown): boolean {
  const items = asArray(reply);
  return Number(items[0]) !== 1 || areRequestKeys(items, 2);
}

/** Whether every request that comes next can be settled under its key. */
export function isSoundHandoff(reply: unknown): boolean {
  const items = asArray(reply);
  return Number(items[0]) !== 3 || areRequestKeys(items, 1);
}

function areRequestKeys(items: readonly unknown[], first: number): boolean {
  for (let index = first; index < items.length; index += 2) {
    if (!isRequestKey(items[index])) return false;
  }
  return true;
}

export function readEnter(reply: unknown): EnterReply {
  const items = asArray(reply);
  switch (Number(items[0])) {
    case 0:
      return { kind: "settled", value: splitStamp(String(items[1])).text };
    case 1:
      return { kind: "turn", tries: Number(items[1]), requests: requestsFrom(items, 2) };
    case 2:
      return { kind: "waiting", position: Number(items[1]), head: String(items[2]) };
    default:
      return { kind: "absent" };
  }
}

export function readHandoff(reply: unknown): HandoffReply {
  const items = asArray(reply);
  switch (Number(items[0])) {
    case 0:
      return { kind: "lost" };
    case 1:
      return { kind: "released" };
    case 2:
      return { kind: "yielded" };
    default:
      return { kind: "next", requests: requestsFrom(items, 1) };
  }
}

/** The outcome found while stepping back, or null when the seat was just given up. */
export function readStepBack(reply: unknown): string | null {
  const items = asArray(reply);
  return Number(items[0]) === 0 ? splitStamp(String(items[1])).text : null;
}

export function readReport(lcid: string, reply: unknown): LaneReport {
  const [depth, bodies, holder, leaseLeftMs, seats, outcomes, tries, head, headHasBody] = asArray(reply);
  return {
    lcid,
    depth: Number(depth),
    holder: textOrNull(holder),
    leaseLeftMs: Math.max(0, Number(leaseLeftMs)),
    seats: Number(seats),
    outcomes: Number(outcomes),
    tries: Number(tries ?? 0),
    headKey: textOrNull(head),
    consistent: Number(depth) === Number(bodies) && Number(headHasBody) === 1,
  };
}

export function readView(lcid: string, reply: unknown): LaneView {
  const items = asArray(reply);
  const [places, left] = [asArray(items[9]), asArray(items[10])];
  const line: LinePlace[] = [];
  for (let index = 0; index < places.length; index += 3) {
    const stored = textOrNull(places[index + 1]);
    const { atMs, text } = stored === null ? { atMs: null, text: null } : splitStamp(stored);
    const seated = textOrNull(places[index + 2]) !== null;
    line.push({ key: String(places[index]), body: text, publishedAtMs: atMs, seated });
  }
  const leftOutcomes: LeftOutcome[] = [];
  for (let index = 0; index < left.length; index += 2) {
    const { atMs, text } = splitStamp(String(left[index + 1]));
    leftOutcomes.push({ key: String(left[index]), value: text, leftAtMs: atMs });
  }
  return { ...readReport(lcid, reply), line, leftOutcomes };
}

function textOrNull(item: unknown): string | null {
  return typeof item === "string" ? item : null;
}

/** What a process hears on its channel. */
export type Word =
  | { readonly kind: "wake"; readonly lcid: string; readonly key: string }
  | {
      readonly kind: "settled";
      readonly lcid: string;
      readonly outcomes: readonly (readonly [key: string, value: string])[];
    };

/** Null for anything that is not one of ours: whoever can publish on the channel must not be able to hurt. */
export function readWord(message: string): Word | null {
  let items: unknown;
  try {
    items = JSON.parse(message);
  } catch {
    return null;
  }
  if (!Array.isArray(items) || !items.every((item) => typeof item === "string")) return null;
  const [kind, lcid, ...rest] = items;
  if (lcid === undefined || rest.length === 0) return null;
  if (kind === "wake") return { kind, lcid, key: rest[0] ?? "" };
  if (kind !== "settled") return null;
  const outcomes: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < rest.length; index += 2) {
    outcomes.push([rest[index] ?? "", rest[index + 1] ?? ""]);
  }
  return { kind, lcid, outcomes };
}
