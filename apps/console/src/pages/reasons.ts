import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { page, table } from "./layout.ts";
import type { Reader } from "./layout.ts";

/** What the reasons mean, in the words of docs/events.md: beside a code there is no room for more than the code. */
export const REASON_WORDS: Readonly<Record<string, string>> = {
  ORDER_NOT_FOUND: "waits for the placement of its order",
  LINE_NOT_FOUND: "waits for its line",
  LINE_PRECONDITION: "waits for the line to have the quantity that it changes from",
  WOULD_EMPTY_ORDER: "waits for another line: only a cancel of the whole order may empty it",
  EXCEEDS_ORDERED: "waits for a higher quantity of the line",
  SHORTAGE_NOT_SEEN: "waits for the shortage that it refers to",
  RESERVATION_NOT_SEEN: "waits for the reservation that it refers to",
  CANCEL_NOT_REQUESTED: "waits for the cancel request that it refers to",
  NOT_RESERVED: "waits for the reservation of what was shipped",
  RELEASE_BELOW_SHIPPED: "waits for more stock: less would be held than was shipped",
  AUTHORIZATION_NOT_SEEN: "waits for the authorization that it refers to",
  CAPTURE_NOT_SEEN: "waits for the capture that it refers to",
  PAYMENT_NOT_CONFIRMED: "waits until the order may ship",
  BLOCKED: "waits for the failed event in front of it",
  UNSUPPORTED: "waits for a build that knows its type or version",
  INVALID_PAYLOAD: "its data break a rule; the detail says which",
  REF_CONFLICT: "its business key is taken by other data",
  CURRENCY_MISMATCH: "another currency than the order's",
  TOTAL_OUT_OF_RANGE: "more lines, or a larger total, than an order may have",
  ORDER_CANCELLED: "the order is cancelled",
  BELOW_SHIPPED: "a quantity below what was shipped",
  BELOW_CANCELLED: "a quantity below what was cancelled",
  OVER_CAPTURE: "more was captured than the authorization had left",
  AUTHORIZATION_CLOSED: "nothing is left of the authorization, and some of it was voided",
  VOID_EXCEEDS_OPEN: "more than is open of the authorization",
  OVER_REFUND: "more than is left to refund",
  OVER_RELEASE: "more than is left to release",
  CAPTURE_REVERSED: "the capture failed after all",
  STALE_FAILURE: "an authorization that is known already is reported as failed",
  REVERSAL_AFTER_REFUND: "a capture fails of which something was refunded",
  LINE_CANCELLED: "pieces that were cancelled were shipped",
  CANCEL_CLOSED: "the cancel request has its answer",
  ALREADY_CANCELLED: "the order is cancelled already",
  ALREADY_SHIPPED: "the goods have left",
  HELD_LIMIT: "the order held too many events",
  PREREQ_TIMEOUT: "what it waited for did not come in time",
  DROPPED: "an operator gave it up",
  ORDER_PURGED: "the order was purged",
  DECISION_FAILED: "deciding it met a fault",
  REFUSED_BY_DATABASE: "Postgres refused what it would have written",
  CRASH_LOOP: "each process that decided it vanished",
};

/** A reason as it is stored, and what it means where somebody rests on it. */
export function reasonWords(reason: string | null | undefined): Html {
  if (reason === null || reason === undefined) return html``;
  const known = reason.split(":").filter((code) => Object.hasOwn(REASON_WORDS, code));
  const [first] = known;
  if (first === undefined) return html`<span class="why">${reason}</span>`;
  const words = known.map((code) => REASON_WORDS[code]).join(": ");
  return html`<a class="why" href="/reasons#${first}" title="${words}">${reason}</a>`;
}

/** For those who cannot rest on a code, and for reading. */
export function reasonsPage(reader: Reader): Html {
  const content = html`<h1>Reasons</h1>
    <p class="lead">Why events are held, rejected or failed, by the code that stands beside each.</p>
    <div class="reasons">
      ${table(
        "Reasons",
        [
          { title: "Reason", of: ([code]) => html`<span class="why" id="${code}">${code}</span>` },
          { title: "Means", of: ([, words]) => words },
        ],
        Object.entries(REASON_WORDS),
      )}
    </div>`;
  return page({ title: "Reasons", reader, content });
}
