import type { LaneBatch, StandingEvent } from "@junban/order-store";
import { requestOf, type EventEnvelope } from "@junban/orders";

type Attributes = Readonly<Record<string, unknown>>;
export type Quantities = Readonly<Record<string, number>>;

/** Writes the events of one order, each under an id of its own unless a test gives one. */
export class Story {
  readonly lcid: string;
  #written = 0;

  constructor(lcid: string) {
    this.lcid = lcid;
  }

  event(type: string, data: unknown, attributes: Attributes = {}): EventEnvelope {
    this.#written += 1;
    const id = `${this.lcid}/${this.#written}`;
    return { specversion: "1.0", id, source: "/shop", type, lcid: this.lcid, data, ...attributes };
  }

  /** Lines at 100 apiece: `{ L1: 2 }` is two pieces of L1. */
  placed(quantities: Quantities = { L1: 2 }, attributes: Attributes = {}): EventEnvelope {
    const lines = Object.entries(quantities).map(([lineId, quantity]) => lineOf(lineId, quantity));
    return this.event(
      "order.placed",
      { currency: "JPY", adjustment: 0, shipGate: "captured", lines },
      attributes,
    );
  }

  lineAdded(lineId: string, quantity = 1, attributes: Attributes = {}): EventEnvelope {
    return this.event("line.added", lineOf(lineId, quantity), attributes);
  }

  quantityChanged(
    changeId: string,
    lineId: string,
    [fromQuantity, toQuantity]: [number, number],
  ): EventEnvelope {
    return this.event("line.quantity_changed", { changeId, lineId, fromQuantity, toQuantity });
  }

  authorized(authorizationId: string, amount = 200, attributes: Attributes = {}): EventEnvelope {
    return this.event("payment.authorized", { authorizationId, amount, currency: "JPY" }, attributes);
  }

  captured(
    captureId: string,
    authorizationId: string,
    amount = 200,
    attributes: Attributes = {},
  ): EventEnvelope {
    return this.event(
      "payment.captured",
      { captureId, authorizationId, amount, currency: "JPY" },
      attributes,
    );
  }

  /** Authorization and capture in one. */
  sold(captureId: string, amount = 200, attributes: Attributes = {}): EventEnvelope {
    return this.event(
      "payment.captured",
      { captureId, authorizationId: null, amount, currency: "JPY" },
      attributes,
    );
  }

  refunded(refundId: string, captureId: string, amount: number): EventEnvelope {
    return this.event("payment.refunded", { refundId, captureId, amount, currency: "JPY" });
  }

  paymentFailed(stage: "authorization" | "capture" | "refund", ref: string): EventEnvelope {
    return this.event("payment.failed", { stage, ref, code: "declined" });
  }

  /** A failed authorization: always applied and always new, so it fits wherever any event will do. */
  paymentFailedAs(code: string, attributes: Attributes = {}): EventEnvelope {
    const ref = `try-${this.#written}`;
    return this.event("payment.failed", { stage: "authorization", ref, code }, attributes);
  }

  reserved(reservationId: string, lineId = "L1", quantity = 2, attributes: Attributes = {}): EventEnvelope {
    return this.event("inventory.reserved", { reservationId, lineId, quantity }, attributes);
  }

  released(releaseId: string, reservationId: string, quantity = 1): EventEnvelope {
    return this.event("inventory.released", { releaseId, reservationId, quantity, reason: "spare" });
  }

  shipped(shipmentId: string, quantities: Quantities = { L1: 2 }): EventEnvelope {
    const items = Object.entries(quantities).map(([lineId, quantity]) => ({ lineId, quantity }));
    return this.event("inventory.shipped", { shipmentId, items });
  }

  cancelRequested(cancelId: string): EventEnvelope {
    return this.event("cancel.requested", { cancelId, scope: "order", reason: "changed their mind" });
  }

  cancelConfirmed(cancelId: string): EventEnvelope {
    return this.event("cancel.confirmed", { cancelId });
  }

  /** One event of every table: an order with a line, refs that are new and refs that are used, placed, paid and shipped. */
  completed(): EventEnvelope[] {
    return [
      this.placed(),
      this.authorized("a1"),
      this.captured("c1", "a1"),
      this.reserved("r1"),
      this.shipped("s1"),
    ];
  }

  cancelled(): EventEnvelope[] {
    return [this.placed(), this.cancelRequested("x1"), this.cancelConfirmed("x1")];
  }
}

function lineOf(lineId: string, quantity: number): Attributes {
  return { lineId, sku: `SKU-${lineId}`, quantity, unitAmount: 100 };
}

/** An event as it stands in its lane. */
export function standing(event: EventEnvelope): StandingEvent {
  const { key, body } = requestOf(event);
  return { key, body, publishedAtMs: Date.now() };
}

/** Anything as it may stand in a lane when somebody else wrote it there. */
export function standingText(key: string, body: string): StandingEvent {
  return { key, body, publishedAtMs: Date.now() };
}

export function batchOf(
  lcid: string,
  events: readonly EventEnvelope[],
  limits: Partial<Omit<LaneBatch, "lcid" | "requests">> = {},
): LaneBatch {
  return { lcid, requests: events.map(standing), ...limits };
}
