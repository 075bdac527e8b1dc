import { Counter, Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { EventResult } from "./intake.ts";
import { WEBHOOK_OUTCOMES } from "./stripe/webhook.ts";
import type { WebhookOutcome } from "./stripe/webhook.ts";

const LATENCY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What this process counts. Every label is one of a few words of this house, never anything that was sent. */
export class GatewayMetrics {
  readonly #requests: Counter<"route" | "status">;
  readonly #events: Counter<"outcome">;
  readonly #webhooks: Counter<"outcome">;
  readonly #seconds: Histogram;

  constructor({ registry }: { registry: Registry }) {
    const registers = [registry];
    this.#requests = new Counter({
      name: "junban_gateway_requests_total",
      help: "Answered requests",
      labelNames: ["route", "status"],
      registers,
    });
    this.#events = new Counter({
      name: "junban_gateway_events_total",
      help: "Events taken or refused, one by one; those of requests refused as a whole are not among them",
      labelNames: ["outcome"],
      registers,
    });
    this.#webhooks = new Counter({
      name: "junban_gateway_stripe_total",
      help: "Deliveries of Stripe's",
      labelNames: ["outcome"],
      registers,
    });
    this.#seconds = new Histogram({
      name: "junban_gateway_publish_seconds",
      help: "From reading a request's events until they were in Redis, or refused",
      buckets: LATENCY_SECONDS,
      registers,
    });
    for (const outcome of ["queued", "repeat"]) this.#events.inc({ outcome }, 0);
    for (const outcome of WEBHOOK_OUTCOMES) this.#webhooks.inc({ outcome }, 0);
  }

  answered(route: string, status: number): void {
    this.#requests.inc({ route, status });
  }

  published(results: readonly EventResult[], seconds: number): void {
    this.#seconds.observe(seconds);
    for (const result of results) {
      this.#events.inc({ outcome: result.status === 202 ? result.outcome : result.code.toLowerCase() });
    }
  }

  webhook(outcome: WebhookOutcome): void {
    this.#webhooks.inc({ outcome });
  }
}
