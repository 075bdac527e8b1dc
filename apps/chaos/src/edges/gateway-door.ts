import { createHash, randomBytes } from "node:crypto";
import type { EventEnvelope } from "@junban/orders";
import type { Troop } from "./troop.ts";

/** Whoever the invented stories are told by. */
const SOURCES = ["/checkout", "/payments", "/service-desk", "/shop", "/warehouse"];
const ANSWERED_WITHIN_MS = 10_000;

export interface Key {
  readonly token: string;
  /** What a gateway is told of it. */
  readonly list: string;
}

export function freshKey(): Key {
  const token = randomBytes(32).toString("base64url");
  const sha256 = createHash("sha256").update(token).digest("hex");
  return { token, list: JSON.stringify([{ name: "chaos", sha256, sources: SOURCES }]) };
}

interface Results {
  readonly results?: readonly { readonly status: number; readonly code?: string }[];
}

/** A producer that knows nothing but HTTP: it sends to whichever gateway is there, and again what was not acknowledged. */
export class GatewayDoor {
  readonly #gateways: Troop;
  readonly #token: string;
  #turn = 0;

  constructor(gateways: Troop, { token }: Key) {
    this.#gateways = gateways;
    this.#token = token;
  }

  /** For each event why it was not acknowledged; null when it was, or when it can never be because its identity is taken. */
  async publishAll(events: readonly EventEnvelope[]): Promise<readonly (string | null)[]> {
    if (events.length === 0) return [];
    const { results } = await this.#post(events).catch((): Results => ({}));
    return events.map((_event, index) => {
      const { status, code } = results?.[index] ?? { status: 0 };
      return status === 202 || status === 409 ? null : (code ?? "UNANSWERED");
    });
  }

  async #post(events: readonly EventEnvelope[]): Promise<Results> {
    const { members } = this.#gateways;
    this.#turn += 1;
    const port = members[this.#turn % Math.max(1, members.length)]?.told["port"];
    const answer = await fetch(`http://127.0.0.1:${String(port)}/events`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": "application/cloudevents-batch+json",
      },
      body: JSON.stringify(events),
      signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
    });
    return (await answer.json()) as Results;
  }
}
