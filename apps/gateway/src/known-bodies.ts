import { createHash } from "node:crypto";
import { interpret, readEnvelopeText, requestOf } from "@junban/orders";
import type { EventEnvelope, RuleBroken } from "@junban/orders";

/** What an event says, in a form that costs little to remember. */
export interface BodyPrint {
  /** Of source and id. */
  readonly identity: string;
  /** The request key: same identity and key, same body to the letter. */
  readonly key: string;
  /** Of the fields this build knows; null when it cannot read them all. */
  readonly meaning: string | null;
  /** The rule for which the event will be rejected when its turn comes; null when there is none that this build knows. */
  readonly broken: RuleBroken | null;
}

export function bodyPrintOf(envelope: EventEnvelope): BodyPrint {
  const { key, body } = requestOf(envelope);
  const written = readEnvelopeText(body);
  const meaning = written.kind === "usable" ? interpret(written.envelope) : null;
  return {
    // Neither can contain the separator.
    identity: digestOf(`${envelope.source}\0${envelope.id}`),
    key,
    // Known fields come in the order of the rules, not in that of the sender.
    meaning: meaning?.kind === "known" ? digestOf(JSON.stringify(meaning.event)) : null,
    broken: meaning?.kind === "invalid" ? { field: meaning.field, rule: meaning.rule } : null,
  };
}

/** The same question as the inbox's, with the same answer. */
export function saysTheSame(a: BodyPrint, b: BodyPrint): boolean {
  if (a.meaning !== null && b.meaning !== null) return a.meaning === b.meaning;
  return a.key === b.key;
}

/**
 * The bodies of the events that this process was the first to acknowledge most recently, by identity. Enough to tell a sender of
 * a repeat or a contradiction soon after; all others the inbox tells apart when their turn comes.
 *
 * Nothing in Redis could be asked instead: a line knows a request by the digest of its whole body, which another body under the
 * same identity does not have, and forgets it once it is settled. The inbox knows identities, but only decided ones, and to ask
 * it the gateway would need Postgres for every event, and stand still with it.
 */
export class KnownBodies {
  readonly #most: number;
  readonly #prints = new Map<string, BodyPrint>();

  constructor({ most = 50_000 }: { most?: number } = {}) {
    this.#most = most;
  }

  of(identity: string): BodyPrint | undefined {
    return this.#prints.get(identity);
  }

  /** The first body under an identity stands, as it does in the inbox. */
  remember(print: BodyPrint): void {
    if (this.#prints.has(print.identity)) return;
    this.#prints.set(print.identity, print);
    if (this.#prints.size <= this.#most) return;
    const [oldest] = this.#prints.keys();
    if (oldest !== undefined) this.#prints.delete(oldest);
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
