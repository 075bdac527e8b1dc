import type { OrderEvent, OrderEventType, OrderPlaced } from "@junban/orders";

export type EventOfType<Type extends OrderEventType> = Extract<OrderEvent, { type: Type }>;

/** What one fact says about one line. `at` is the fact's position, since a few answers depend on what came before. */
export interface Posting {
  readonly at: number;
  readonly what:
    | "ordered"
    | "edited"
    | "removed"
    | "reserved"
    | "released"
    | "short"
    | "shipped"
    | "cancelled";
  readonly quantity: number;
  /** The business name of the fact: of the shortage, where it says `short`. */
  readonly ref: string;
}

/**
 * Everything that was applied to one order, and nothing else: no sums, no states. Whoever wants to know something asks
 * the facts. A ledger never changes; `plus` makes the next one, so "what would be left" is simply asked of it.
 *
 * The indexes below are finding aids over the same facts, made once for each ledger when first needed.
 */
export class Ledger {
  readonly facts: readonly OrderEvent[];
  #byType: Map<OrderEventType, OrderEvent[]> | undefined;
  #byKey: Map<string, OrderEvent> | undefined;
  #byLine: Map<string, Posting[]> | undefined;
  #cancelled: boolean | undefined;
  readonly #failed = new Map<string, ReadonlySet<string>>();

  constructor(facts: readonly OrderEvent[] = []) {
    this.facts = facts;
  }

  plus(fact: OrderEvent): Ledger {
    return new Ledger([...this.facts, fact]);
  }

  get version(): number {
    return this.facts.length;
  }

  get placement(): OrderPlaced | undefined {
    return this.all("order.placed")[0];
  }

  /** Whether a cancel of the whole order was confirmed. */
  get cancelled(): boolean {
    this.#cancelled ??= this.all("cancel.confirmed").some(
      ({ data }) => this.request(data.cancelId)?.data.scope === "order",
    );
    return this.#cancelled;
  }

  all<Type extends OrderEventType>(type: Type): readonly EventOfType<Type>[] {
    if (this.#byType === undefined) {
      this.#byType = new Map();
      for (const fact of this.facts) {
        const same = this.#byType.get(fact.type);
        if (same === undefined) this.#byType.set(fact.type, [fact]);
        else same.push(fact);
      }
    }
    return (this.#byType.get(type) ?? []) as EventOfType<Type>[];
  }

  /** The fact under a business key, if there is one. */
  under(key: string): OrderEvent | undefined {
    this.#byKey ??= new Map(this.facts.flatMap(entriesOf));
    return this.#byKey.get(key);
  }

  request(cancelId: string): EventOfType<"cancel.requested"> | undefined {
    return this.under(`cancel-request ${cancelId}`) as EventOfType<"cancel.requested"> | undefined;
  }

  reservation(reservationId: string): EventOfType<"inventory.reserved"> | undefined {
    return this.under(`reservation ${reservationId}`) as EventOfType<"inventory.reserved"> | undefined;
  }

  /** The names that were reported failed at this stage, before or after they were reported as done. */
  failed(stage: "authorization" | "capture" | "refund"): ReadonlySet<string> {
    const known = this.#failed.get(stage);
    if (known !== undefined) return known;
    const reports = this.all("payment.failed").filter(({ data }) => data.stage === stage);
    const names = new Set(reports.map(({ data }) => data.ref));
    this.#failed.set(stage, names);
    return names;
  }

  get lineIds(): readonly string[] {
    return [...this.#lines().keys()];
  }

  /** Everything said about a line, oldest first; undefined when there is no such line. */
  line(lineId: string): readonly Posting[] | undefined {
    return this.#lines().get(lineId);
  }

  #lines(): Map<string, Posting[]> {
    if (this.#byLine !== undefined) return this.#byLine;
    const lines = new Map<string, Posting[]>();
    for (const [at, fact] of this.facts.entries()) {
      for (const { lineId, ...entry } of this.#postingsOf(fact)) {
        const earlier = lines.get(lineId);
        if (earlier === undefined) lines.set(lineId, [{ at, ...entry }]);
        else earlier.push({ at, ...entry });
      }
    }
    this.#byLine = lines;
    return lines;
  }

  #postingsOf(fact: OrderEvent): readonly (Omit<Posting, "at"> & { lineId: string })[] {
    switch (fact.type) {
      case "order.placed":
        return fact.data.lines.map(({ lineId, quantity }) => ({
          lineId,
          what: "ordered",
          quantity,
          ref: lineId,
        }));
      case "line.added":
        return [posting({ ...fact.data, what: "ordered", ref: fact.data.lineId })];
      case "line.quantity_changed":
        return [
          {
            lineId: fact.data.lineId,
            what: "edited",
            quantity: fact.data.toQuantity,
            ref: fact.data.changeId,
          },
        ];
      case "line.removed":
        return [{ lineId: fact.data.lineId, what: "removed", quantity: 0, ref: fact.data.changeId }];
      case "inventory.reserved":
        return [posting({ ...fact.data, what: "reserved", ref: fact.data.reservationId })];
      case "inventory.short":
        return [posting({ ...fact.data, what: "short", ref: fact.data.shortageId })];
      case "inventory.released": {
        const lineId = this.reservation(fact.data.reservationId)?.data.lineId ?? "";
        return [{ lineId, what: "released", quantity: fact.data.quantity, ref: fact.data.releaseId }];
      }
      case "inventory.shipped":
        return fact.data.items.map((item) => ({ ...item, what: "shipped", ref: fact.data.shipmentId }));
      case "cancel.confirmed": {
        const items = this.request(fact.data.cancelId)?.data.items ?? [];
        return items.map((item) => ({ ...item, what: "cancelled", ref: fact.data.cancelId }));
      }
      default:
        return [];
    }
  }
}

function posting(from: Omit<Posting, "at"> & { lineId: string }): Omit<Posting, "at"> & { lineId: string } {
  const { lineId, what, quantity, ref } = from;
  return { lineId, what, quantity, ref };
}

/** A placement speaks for its lines too: they and added lines share one kind of key. */
function entriesOf(fact: OrderEvent): [string, OrderEvent][] {
  if (fact.type !== "order.placed") return [[businessKeyOf(fact), fact]];
  const lines = fact.data.lines.map((data): OrderEvent => ({ type: "line.added", lcid: fact.lcid, data }));
  return [[businessKeyOf(fact), fact], ...lines.flatMap(entriesOf)];
}

const businessKeys: { readonly [Type in OrderEventType]: (data: EventOfType<Type>["data"]) => string } = {
  "order.placed": () => "order",
  "line.added": (data) => `line ${data.lineId}`,
  "line.quantity_changed": (data) => `change ${data.changeId}`,
  "line.removed": (data) => `change ${data.changeId}`,
  "payment.authorized": (data) => `authorization ${data.authorizationId}`,
  "payment.captured": (data) => `capture ${data.captureId}`,
  "payment.voided": (data) => `void ${data.voidId}`,
  "payment.refunded": (data) => `refund ${data.refundId}`,
  "payment.failed": (data) => `failure ${data.stage} ${data.ref}`,
  "inventory.reserved": (data) => `reservation ${data.reservationId}`,
  "inventory.short": (data) => `shortage ${data.shortageId}`,
  "inventory.released": (data) => `release ${data.releaseId}`,
  "inventory.shipped": (data) => `shipment ${data.shipmentId}`,
  "cancel.requested": (data) => `cancel-request ${data.cancelId}`,
  "cancel.confirmed": (data) => `cancel-confirm ${data.cancelId}`,
  "cancel.rejected": (data) => `cancel-reject ${data.cancelId}`,
};

/** What an event is about, whoever reports it and under whichever event id. */
export function businessKeyOf(fact: OrderEvent): string {
  const keyOf = businessKeys[fact.type] as (data: OrderEvent["data"]) => string;
  return keyOf(fact.data);
}
