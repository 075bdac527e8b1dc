import { counted } from "@junban/operations";
import type { Change, Timeline, TimelineEntry } from "@junban/operations";
import type { Derived, Line, OrderTotals } from "@junban/orders";
import { html } from "../html.ts";
import type { Content, Html } from "../html.ts";
import { amount, count, duration, spoken, time } from "../words.ts";
import { chip } from "./layout.ts";
import { eventLink, orderPath } from "./links.ts";
import { outcomeChip, statusChip } from "./tones.ts";

interface Context {
  readonly lcid: string;
  readonly currency: string | null;
}

/** What happened to an order and what each event changed, newest first. */
export function timelineSection(timeline: Timeline, context: Context): Html {
  const { entries, total, broken } = timeline;
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline <small>${counted(total, "event")}, newest first</small></h2>
    ${
      broken !== null &&
      html`<p class="notice bad">
        The history cannot be folded: ${broken}. Changes are shown up to there. <code>junban audit</code> says
        more.
      </p>`
    }
    ${pager(timeline, context)}
    <ol class="timeline" reversed>
      ${entries.toReversed().map((entry) => item(entry, context))}
    </ol>
    ${entries.length > 10 && pager(timeline, context)}
  </section>`;
}

function pager({ page, pages }: Timeline, { lcid }: Context): Content {
  if (pages === 1) return "";
  const link = (to: number, words: string): Content =>
    to < 1 || to > pages || to === page
      ? html`<span class="off">${words}</span>`
      : html`<a href="${orderPath(lcid)}&amp;page=${to}#timeline">${words}</a>`;
  return html`<nav class="pager" aria-label="Pages of the timeline">
    ${link(pages, "Newest")} ${link(page + 1, "Newer")}
    <span class="number">${count(page)} of ${count(pages)}</span>
    ${link(page - 1, "Older")} ${link(1, "Oldest")}
  </nav>`;
}

function item({ event, changes }: TimelineEntry, { currency }: Context): Html {
  const { outcome, type, version, detail, alert, arrival, decidedAt, publishedAt } = event;
  const waitedMs = decidedAt.getTime() - publishedAt.getTime();
  return html`<li class="${outcome}" value="${arrival}">
    <div class="when">${time(publishedAt)}</div>
    <div class="what">
      <p>
        <strong>${type}</strong> ${outcomeChip(event)}
        ${version !== null && html`<span class="version">v${version}</span>`} ${alert && chip("alert", "bad")}
      </p>
      ${detail !== null && html`<p class="detail">${detail}</p>`}
      ${
        changes.length > 0 &&
        html`<ul class="changes">
          ${changes.map((change) => html`<li>${changeWords(change, currency)}</li>`)}
        </ul>`
      }
      <p class="small">
        ${eventLink(event)} · place
        ${count(arrival)}${waitedMs >= LONG_WAIT_MS && ` · decided ${duration(waitedMs)} later`}
      </p>
    </div>
  </li>`;
}

/** Sooner than this is the ordinary course of things. */
const LONG_WAIT_MS = 5_000;

function changeWords(change: Change, currency: string | null): Html {
  if (change.kind === "new-line") return newLine(change.line, currency);
  const shown = (value: string | number | boolean | null): Content =>
    valueWords(change.field, value, currency);
  const words = html`${shown(change.from)}
    <span class="arrow" aria-label="becomes">→</span> ${shown(change.to)}`;
  const name = NAMES[change.field] ?? spoken(change.field);
  return change.kind === "line"
    ? html`<span class="of">line ${change.lineId} (${change.sku})</span> ${name} ${words}`
    : html`<span class="of">${name}</span> ${words}`;
}

function newLine({ lineId, sku, quantity, unitAmountMinor }: Line, currency: string | null): Html {
  return html`<span class="of">line ${lineId}</span> ${count(quantity)} × ${sku} at
    ${amount(unitAmountMinor, currency)} ${currency}`;
}

const NAMES: Readonly<Partial<Record<keyof Derived | keyof OrderTotals | keyof Line, string>>> = {
  paymentStatus: "payment",
  fulfilmentStatus: "fulfilment",
  payableMinor: "payable",
  refundDueMinor: "refund due",
  voidDueMinor: "void due",
  openMinor: "open authorization",
  releaseDue: "to release",
  adjustmentMinor: "adjustment",
  authorizedMinor: "authorized",
  capturedMinor: "captured",
  voidedMinor: "voided",
  refundedMinor: "refunded",
  openCancels: "open cancel requests",
  unitAmountMinor: "unit price",
  shortOpen: "short",
  shipGate: "ships when",
};

function valueWords(
  field: string,
  value: string | number | boolean | null,
  currency: string | null,
): Content {
  if (field === "status" || field === "paymentStatus" || field === "fulfilmentStatus") {
    return statusChip(String(value));
  }
  if (value === null) return "–";
  if (typeof value !== "number") return String(value);
  const text = field.endsWith("Minor") ? amount(value, currency) : count(value);
  return html`<span class="number">${text}</span>`;
}
