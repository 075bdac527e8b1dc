import type { OrderEvent } from "@junban/orders";
import fc from "fast-check";
import type { GeneratorValue } from "fast-check";
import {
  added,
  authorized,
  cancelled,
  cancelRejected,
  cancelRequested,
  captured,
  changed,
  failed,
  line,
  placed,
  refunded,
  released,
  removed,
  reserved,
  sale,
  shipped,
  short,
  voided,
} from "./events.ts";

/**
 * The events of one order among which nothing is decided by who comes first. Each fits beside all the others, so that in
 * every sequence all of them are applied in the end. Left out are the races that publish order decides: line edits against
 * order cancels, reversals and refunds against shipments and each other, voids against shipments on credit, several edits
 * of one line, an edit against a partial cancel of the same line, a second cancel; and a failure of the very authorization
 * that succeeded, whose late report is stale and whose early one is not.
 */
export const raceFreeStory: fc.Arbitrary<readonly OrderEvent[]> = fc
  .gen()
  .map((draw) => new Storyteller(draw).tell());

interface PlannedLine {
  readonly lineId: string;
  readonly price: number;
  /** When everything has happened. */
  readonly peak: number;
  active: number;
  held: number;
}

interface PlannedReservation {
  readonly reservationId: string;
  readonly line: PlannedLine;
  readonly count: number;
}

class Storyteller {
  readonly #draw: GeneratorValue;
  readonly #events: OrderEvent[] = [];
  readonly #lines: PlannedLine[] = [];
  readonly #reservations: PlannedReservation[] = [];
  #hasPartialCancel = false;
  #names = 0;
  #capturedMinor = 0;
  #openMinor = 0;

  constructor(draw: GeneratorValue) {
    this.#draw = draw;
  }

  tell(): readonly OrderEvent[] {
    const isCancelled = this.#perhaps(25);
    const hasShipments = !isCancelled && this.#perhaps(50);
    const shipGate = this.#perhaps(50) ? "captured" : "authorized";
    const adjustment = this.#upTo(20);
    this.#tellLines({ isCancelled, adjustment, shipGate });
    this.#tellPayments({ hasReversals: !hasShipments, hasVoids: !hasShipments || shipGate === "captured" });
    this.#tellStock();
    if (hasShipments) {
      const securedMinor = this.#capturedMinor + (shipGate === "authorized" ? this.#openMinor : 0);
      this.#tellShipments(securedMinor - adjustment);
    }
    this.#tellReleases();
    this.#tellOtherCancels();
    if (isCancelled) this.#events.push(...cancelled(this.#name("k")));
    return this.#events;
  }

  #tellLines(terms: { isCancelled: boolean; adjustment: number; shipGate: "captured" | "authorized" }): void {
    const lines = Array.from({ length: this.#between(1, 3) }, () =>
      line(this.#name("L"), this.#between(1, 5), this.#between(0, 60)),
    );
    this.#events.push(placed(lines, terms));
    for (const [index, { lineId, quantity, unitAmount }] of lines.entries()) {
      const kept: PlannedLine = { lineId, price: unitAmount, peak: quantity, active: quantity, held: 0 };
      // The first line keeps a piece, so that the order is never empty.
      this.#lines.push(terms.isCancelled ? kept : this.#edit(kept, index === 0 ? 1 : 0));
    }
    for (let more = terms.isCancelled ? 0 : this.#upTo(2); more > 0; more -= 1) {
      const [lineId, quantity, price] = [this.#name("L"), this.#between(1, 5), this.#between(0, 60)];
      this.#events.push(added(lineId, quantity, price));
      this.#lines.push(this.#edit({ lineId, price, peak: quantity, active: quantity, held: 0 }, 0));
    }
  }

  /** At most one edit or one partial cancel of a line. The partial cancels of an order are one cancel. */
  #edit(before: PlannedLine, least: 0 | 1): PlannedLine {
    const { lineId, peak } = before;
    switch (this.#upTo(4)) {
      case 0: {
        const to = this.#between(1, 8);
        this.#events.push(changed(this.#name("ch"), lineId, [peak, to]));
        return { ...before, peak: Math.max(peak, to), active: to };
      }
      case 1: {
        if (least > 0) return before;
        this.#events.push(removed(this.#name("ch"), lineId, peak));
        return { ...before, active: 0 };
      }
      case 2: {
        if (peak - least < 1 || this.#hasPartialCancel) return before;
        this.#hasPartialCancel = true;
        const count = this.#between(1, peak - least);
        this.#events.push(...cancelled(this.#name("k"), { [lineId]: count }));
        return { ...before, active: peak - count };
      }
      default:
        return before;
    }
  }

  #tellPayments({ hasReversals, hasVoids }: { hasReversals: boolean; hasVoids: boolean }): void {
    for (let count = this.#upTo(2); count > 0; count -= 1) {
      this.#tellAuthorization({ hasReversals, hasVoids });
    }
    for (let count = this.#upTo(1); count > 0; count -= 1) {
      const [captureId, amount] = [this.#name("c"), this.#between(1, 900)];
      this.#events.push(sale(captureId, amount));
      this.#afterCapture({ captureId, amount, hasReversals });
    }
    // Attempts that came to nothing, at every stage, which nobody will hear of again.
    for (let count = this.#upTo(2); count > 0; count -= 1) {
      const stage = (["authorization", "capture", "refund"] as const)[this.#upTo(2)]!;
      this.#events.push(failed(stage, this.#name("x")));
    }
  }

  #tellAuthorization({ hasReversals, hasVoids }: { hasReversals: boolean; hasVoids: boolean }): void {
    const [authorizationId, amount] = [this.#name("a"), this.#between(1, 900)];
    this.#events.push(authorized(authorizationId, amount));
    let open = amount;
    for (let count = this.#upTo(2); count > 0 && open > 0; count -= 1) {
      const [captureId, part] = [this.#name("c"), this.#between(1, open)];
      open -= part;
      this.#events.push(captured(captureId, authorizationId, part));
      this.#afterCapture({ captureId, amount: part, hasReversals });
    }
    if (hasVoids && open > 0 && this.#perhaps(40)) {
      const part = this.#between(1, open);
      open -= part;
      this.#events.push(voided(this.#name("v"), authorizationId, part));
    }
    this.#openMinor += open;
  }

  /** A capture is reversed, or refunded in parts some of which fail, or neither. */
  #afterCapture({
    captureId,
    amount,
    hasReversals,
  }: {
    captureId: string;
    amount: number;
    hasReversals: boolean;
  }): void {
    this.#capturedMinor += amount;
    if (!hasReversals) return;
    if (this.#perhaps(30)) {
      this.#events.push(failed("capture", captureId));
      return;
    }
    let left = amount;
    for (let count = this.#upTo(2); count > 0 && left > 0; count -= 1) {
      const [refundId, part] = [this.#name("f"), this.#between(1, left)];
      left -= part;
      this.#events.push(refunded(refundId, captureId, part));
      if (this.#perhaps(30)) this.#events.push(failed("refund", refundId));
    }
  }

  #tellStock(): void {
    for (const planned of this.#lines) {
      const shortageIds: string[] = [];
      for (let count = this.#upTo(2); count > 0; count -= 1) {
        const shortageId = this.#name("h");
        shortageIds.push(shortageId);
        this.#events.push(short(shortageId, planned.lineId, this.#between(1, planned.peak)));
      }
      for (let times = this.#upTo(3); times > 0; times -= 1) {
        const [reservationId, count] = [this.#name("r"), this.#between(1, planned.peak)];
        const fills = this.#perhaps(50) ? (shortageIds[this.#upTo(1)] ?? null) : null;
        this.#events.push(reserved(reservationId, planned.lineId, count, fills));
        this.#reservations.push({ reservationId, line: planned, count });
        planned.held += count;
      }
    }
  }

  /** Ships no more than is active, held and paid for when everything has happened. Shipped pieces stay held. */
  #tellShipments(budgetMinor: number): void {
    let left = budgetMinor;
    for (let parcels = this.#upTo(3); parcels > 0; parcels -= 1) {
      const parcel: Record<string, number> = {};
      for (const planned of this.#lines) {
        const affordable =
          planned.price === 0 ? planned.active : Math.floor(Math.max(0, left) / planned.price);
        const count = this.#upTo(Math.max(0, Math.min(planned.active, planned.held, affordable)));
        if (count === 0) continue;
        parcel[planned.lineId] = count;
        planned.active -= count;
        planned.held -= count;
        left -= count * planned.price;
      }
      const isAllowed = left >= 0;
      if (isAllowed && Object.keys(parcel).length > 0) this.#events.push(shipped(this.#name("s"), parcel));
    }
  }

  #tellReleases(): void {
    for (const { reservationId, line: planned, count } of this.#reservations) {
      const part = this.#upTo(Math.min(count, planned.held));
      if (part === 0 || this.#perhaps(50)) continue;
      planned.held -= part;
      this.#events.push(released(this.#name("u"), reservationId, part));
    }
  }

  /** Requests that were refused, or that nobody answered yet. */
  #tellOtherCancels(): void {
    for (let count = this.#upTo(2); count > 0; count -= 1) {
      const cancelId = this.#name("k");
      const lineId = this.#lines[0]!.lineId;
      this.#events.push(
        this.#perhaps(50) ? cancelRequested(cancelId) : cancelRequested(cancelId, { [lineId]: 1 }),
      );
      if (this.#perhaps(70)) this.#events.push(cancelRejected(cancelId));
    }
  }

  #name(prefix: string): string {
    this.#names += 1;
    return `${prefix}-${this.#names}`;
  }

  #perhaps(percent: number): boolean {
    return this.#upTo(99) < percent;
  }

  #upTo(most: number): number {
    return this.#between(0, most);
  }

  #between(least: number, most: number): number {
    return this.#draw(fc.integer, { min: least, max: most });
  }
}
