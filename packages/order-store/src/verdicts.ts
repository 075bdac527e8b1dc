import { raisesAlert, sameBody, type DuplicateOf, type EventEnvelope } from "@junban/orders";
import type { PreparedEvent } from "./prepared.ts";
import type { Outcome, Settled } from "./types.ts";

/** The answer to an event, as its row keeps it. */
export interface Answer {
  readonly outcome: Outcome;
  readonly reason: string | null;
  readonly version: number | null;
}

export type HoldFrom = "now" | "deadline";

/** A decision made here and now, with everything its row needs. */
export interface Verdict extends Answer {
  readonly outcome: Exclude<Outcome, "conflict">;
  readonly detail: string | null;
  /** How long it may wait; null when it does not wait or has no deadline. */
  readonly holdMs: number | null;
  /** Where `holdMs` counts from: now, or the deadline that the event has already. */
  readonly holdFrom: HoldFrom;
  readonly alert: boolean;
}

/** An earlier decision about an event that came again. */
export interface EarlierDecision extends Answer {
  readonly bodyDigest: string;
  /** The stored event, where the digests differ and it could be kept. */
  readonly event: EventEnvelope | null;
}

const MAX_DETAIL_LENGTH = 500;
const CONFLICT: Answer = { outcome: "conflict", reason: "BODY_DIFFERS", version: null };
const FINAL = { detail: null, holdMs: null, holdFrom: "now", alert: false } as const;

export function applied(version: number): Verdict {
  return { ...FINAL, outcome: "applied", reason: null, version };
}

export function duplicate(of: DuplicateOf): Verdict {
  return { ...FINAL, outcome: "duplicate", reason: `${of.kind}:${of.ref}`, version: null };
}

export function rejected(type: string, reason: string, detail: string | null = null): Verdict {
  return {
    ...FINAL,
    outcome: "rejected",
    reason,
    detail: bounded(detail),
    version: null,
    alert: raisesAlert(type, reason),
  };
}

/** Given up by an operator, who knows: no alert is left. */
export function dropped(detail: string): Verdict {
  return { ...FINAL, outcome: "rejected", reason: "DROPPED", detail: bounded(detail), version: null };
}

export function failed(reason: string, detail: string): Verdict {
  return { ...FINAL, outcome: "failed", reason, detail: bounded(detail), version: null };
}

export function deferred(reason: string, wait: { holdMs: number | null; from: HoldFrom }): Verdict {
  return {
    ...FINAL,
    outcome: "deferred",
    reason,
    version: null,
    holdMs: wait.holdMs,
    holdFrom: wait.from,
  };
}

/** What a repeat is told: the first decision again, or that this is another body under a known identity. */
export function answerAgain(event: PreparedEvent, earlier: EarlierDecision): Answer {
  return earlier.bodyDigest === event.key || bodiesAgree(earlier.event, event.envelope) ? earlier : CONFLICT;
}

export function settledAs(event: PreparedEvent, answer: Answer, repeat: boolean): Settled {
  const { key, source, id, type } = event;
  return {
    key,
    source,
    id,
    type,
    outcome: answer.outcome,
    reason: answer.reason,
    version: answer.version,
    repeat,
  };
}

function bodiesAgree(stored: EventEnvelope | null, came: EventEnvelope | null): boolean {
  return stored !== null && came !== null && sameBody(stored, came);
}

function bounded(text: string | null): string | null {
  return text === null ? null : text.slice(0, MAX_DETAIL_LENGTH).toWellFormed().replaceAll("\0", "");
}
