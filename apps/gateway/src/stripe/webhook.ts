import { statusOf } from "../intake.ts";
import type { EventResult, Intake } from "../intake.ts";
import { Refusal, malformed } from "../refusal.ts";
import { mapStripeEvent } from "./mapping.ts";
import { checkSignature } from "./signature.ts";

/** What became of a delivery; one counter has them all. */
export const WEBHOOK_OUTCOMES = [
  "published",
  "unmapped",
  "no-order",
  "refused",
  "bad-signature",
  "unreadable",
] as const;
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

export interface StripeWebhookOptions {
  readonly secrets: readonly string[];
  readonly toleranceMs: number;
  readonly intake: Pick<Intake, "publish">;
  readonly count: (outcome: WebhookOutcome) => void;
}

export interface Delivery {
  readonly signature: string | undefined;
  readonly body: Buffer;
}

/** `ignored`: nothing of it concerns an order. Stripe is told that it arrived, or it would come again for days. */
export type DeliveryAnswer =
  | { readonly kind: "done"; readonly outcome: "published" | "ignored" }
  | { readonly kind: "refused"; readonly results: readonly EventResult[] };

/** Takes one delivery of Stripe's. Every provider's adapter is these steps: prove it, map it, publish it, answer. */
export class StripeWebhook {
  readonly #options: StripeWebhookOptions;

  constructor(options: StripeWebhookOptions) {
    this.#options = options;
  }

  /** @throws {Refusal} when it is not Stripe's, or cannot be read. */
  async take({ signature = "", body }: Delivery): Promise<DeliveryAnswer> {
    const { secrets, toleranceMs, intake, count } = this.#options;
    const verdict = checkSignature({
      header: signature,
      payload: body,
      secrets,
      toleranceMs,
      nowMs: Date.now(),
    });
    if (verdict !== "genuine") {
      count("bad-signature");
      throw badSignature(verdict);
    }
    const mapped = mapStripeEvent(parsed(body));
    switch (mapped.kind) {
      case "unreadable": {
        count("unreadable");
        throw malformed("body", "an event of Stripe's");
      }
      case "unmapped":
      case "no-order": {
        count(mapped.kind);
        return { kind: "done", outcome: "ignored" };
      }
      case "events": {
        const results = await intake.publish(mapped.events);
        const status = statusOf(results);
        count(status === 202 ? "published" : "refused");
        return status === 202 ? { kind: "done", outcome: "published" } : { kind: "refused", results };
      }
    }
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function badSignature(verdict: "unreadable" | "untimely" | "forged"): Refusal {
  const rules = {
    unreadable: "t=, the time of signing, and v1=, at least one signature",
    untimely: "a time of signing within the tolerance",
    forged: "a signature of this body with a secret that is known here",
  };
  const rule = rules[verdict];
  return new Refusal({
    code: "BAD_SIGNATURE",
    message: "the signature does not hold",
    field: "stripe-signature",
    rule,
  });
}
