import { counted } from "@junban/operations";
import type { LaneInFull, Answer, Timeline } from "@junban/operations";
import type { DeadLetter, OrderReport, PurgedOrder } from "@junban/order-store";
import type { Line } from "@junban/orders";
import { html } from "../html.ts";
import type { Content, Html } from "../html.ts";
import { amount, count, spoken, time } from "../words.ts";
import { deadTable, heldTable } from "./event-tables.ts";
import { laneSection } from "./lane.ts";
import { chip, facts, nothing, page, table, unknown } from "./layout.ts";
import type { Notice, Reader } from "./layout.ts";
import { orderPath } from "./links.ts";
import { timelineSection } from "./timeline.ts";
import { statusChip } from "./tones.ts";

export interface OrderPageOptions {
  readonly lcid: string;
  /** Null where there is no such order. */
  readonly order: Answer<OrderReport | null>;
  /** Set where it was finished and is gone. */
  readonly purged: PurgedOrder | null;
  /** Failed events of the order, for a halted one. */
  readonly failed: readonly DeadLetter[];
  readonly timeline: Answer<Timeline>;
  readonly lane: Answer<LaneInFull>;
  readonly reader: Reader;
  readonly notice: Notice | null;
  readonly nowMs: number;
}

export function orderPage(options: OrderPageOptions): Html {
  const { lcid, order, purged, timeline, lane, reader, notice, nowMs } = options;
  const content = html`<div class="title">
      <h1 class="name">${lcid}</h1>
      ${order.kind === "known" && order.value !== null && chips(order.value)}
    </div>
    ${order.kind === "unknown" && unknown("The order", "Postgres does not answer")}
    ${order.kind === "known" && order.value === null && absent(purged)}
    ${order.kind === "known" && order.value !== null && standing(order.value, options)}
    ${laneSection(lane, { nowMs, reader })}
    ${
      timeline.kind === "known"
        ? timeline.value.total > 0 && timelineSection(timeline.value, { lcid, currency: currencyOf(order) })
        : unknown("The history", "Postgres does not answer")
    }`;
  return page({ title: lcid, reader, notice, content });
}

function absent(purged: PurgedOrder | null): Html {
  if (purged === null) return nothing("Nothing has been decided for this order.");
  return html`<p class="nothing">
    It was finished, and purged on ${time(purged.purgedAt)}: its events are gone, and later ones of it are
    refused.
  </p>`;
}

function currencyOf(order: Answer<OrderReport | null>): string | null {
  return order.kind === "known" ? (order.value?.currency ?? null) : null;
}

function chips(order: OrderReport): Html {
  const { status, paymentStatus, fulfilmentStatus, halted, held } = order;
  return html`<p class="chips">
    ${statusChip(status, "Order")} ${statusChip(paymentStatus, "Payment")}
    ${statusChip(fulfilmentStatus, "Fulfilment")} ${halted && chip("halted", "bad")}
    ${held > 0 && chip(`${count(held)} held`, "wait")}
  </p>`;
}

function standing(order: OrderReport, { reader, nowMs, failed }: OrderPageOptions): Html {
  const { alerts, heldEvents, lcid } = order;
  const back = orderPath(lcid);
  return html`${
      order.halted &&
      html`<section aria-labelledby="failed">
        <h2 id="failed">Failed</h2>
        <p class="notice bad">
          This order waits for somebody: an event could not be decided. Replay it once its cause is mended, or
          drop it.
        </p>
        ${deadTable(failed, { reader, back })}
      </section>`
    }
    ${
      alerts.length > 0 &&
      html`<section aria-labelledby="alerts">
        <h2 id="alerts">Alerts</h2>
        <p class="small">
          Rejected, but they happened in the real world. Acknowledge each once somebody has seen to it.
        </p>
        ${deadTable(alerts, { reader, back })}
      </section>`
    }
    <div class="columns">
      <section aria-labelledby="money">
        <h2 id="money">Money</h2>
        ${money(order)}
      </section>
      <section aria-labelledby="due">
        <h2 id="due">Due</h2>
        ${obligations(order)}
      </section>
      <section aria-labelledby="facts">
        <h2 id="facts">Order</h2>
        ${facts([
          ["Version", count(order.version)],
          ["Events", count(order.arrivals)],
          ...(order.paymentFailures === 0
            ? []
            : [["Payment failures", count(order.paymentFailures)] as const]),
          ["Ships when", order.shipGate === null ? "–" : spoken(order.shipGate)],
          ["Placed", order.placedAt === null ? "–" : time(order.placedAt)],
          ["Changed", time(order.updatedAt)],
        ])}
      </section>
    </div>
    <section aria-labelledby="lines">
      <h2 id="lines">Lines</h2>
      ${order.lines.length === 0 ? nothing("No lines yet.") : lineTable(order.lines, order.currency)}
    </section>
    ${
      heldEvents.length > 0 &&
      html`<section aria-labelledby="held">
        <h2 id="held">Held events</h2>
        ${heldTable(heldEvents, { reader, nowMs, back })}
      </section>`
    }`;
}

function money(order: OrderReport): Html {
  const { currency } = order;
  const row = (name: string, minor: number): readonly [string, Content] => [name, amount(minor, currency)];
  return html`<div class="money">
    ${facts([
      ["Currency", currency ?? "–"],
      row("Payable", order.payableMinor),
      ...(order.adjustmentMinor === 0 ? [] : [row("Adjustment in it", order.adjustmentMinor)]),
      row("Authorized", order.authorizedMinor),
      row("Captured", order.capturedMinor),
      ...(order.voidedMinor === 0 ? [] : [row("Voided", order.voidedMinor)]),
      ...(order.refundedMinor === 0 ? [] : [row("Refunded", order.refundedMinor)]),
    ])}
  </div>`;
}

/** What somebody still has to do, each only where there is something. */
function obligations(order: OrderReport): Html {
  const { currency, refundDueMinor, voidDueMinor, releaseDue, openCancels } = order;
  const rows: (readonly [string, Content])[] = [];
  const unit = currency ?? "";
  if (refundDueMinor > 0) rows.push(["Refund", chip(`${amount(refundDueMinor, currency)} ${unit}`, "bad")]);
  if (voidDueMinor > 0) rows.push(["Void", chip(`${amount(voidDueMinor, currency)} ${unit}`, "wait")]);
  if (releaseDue > 0) rows.push(["Release", chip(counted(releaseDue, "piece"), "wait")]);
  if (openCancels > 0) rows.push(["Answer", chip(counted(openCancels, "cancel request"), "wait")]);
  return rows.length === 0 ? nothing("Nothing to refund, void, release or answer.") : facts(rows);
}

function lineTable(lines: readonly Line[], currency: string | null): Html {
  const number = (title: string, of: (line: Line) => string) => ({ title, of, isNumber: true });
  return table(
    "Lines",
    [
      { title: "Line", of: ({ lineId }) => lineId },
      { title: "SKU", of: ({ sku }) => sku },
      number("Unit", ({ unitAmountMinor }) => amount(unitAmountMinor, currency)),
      number("Quantity", ({ quantity }) => count(quantity)),
      number("Cancelled", ({ cancelled }) => dim(cancelled)),
      number("Reserved", ({ reserved }) => dim(reserved)),
      number("Released", ({ released }) => dim(released)),
      number("Shipped", ({ shipped }) => dim(shipped)),
      number("Short", ({ shortOpen }) => dim(shortOpen)),
    ],
    lines,
  );
}

/** Zeros would hide what is there. */
function dim(value: number): string {
  return value === 0 ? "·" : count(value);
}
