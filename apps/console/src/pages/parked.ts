import { counted } from "@junban/operations";
import type { ParkedNews, StoreGauges } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { count, duration, time } from "../words.ts";
import { actsColumn } from "./act-forms.ts";
import { formToken, nothing, page, table } from "./layout.ts";
import type { Reader } from "./layout.ts";
import { orderLink } from "./links.ts";
import { furtherLink } from "./lists.ts";
import type { Listed, ListPageOptions } from "./lists.ts";

/** What is not parked, and not passed on either. */
export type Waiting = Pick<StoreGauges, "outboxUnpublished" | "outboxLagMs">;

export function parkedPage(
  parked: Listed<ParkedNews>,
  { reader, notice, waiting }: Omit<ListPageOptions, "back"> & { readonly waiting: Waiting },
): Html {
  const content = html`<h1>Parked updates</h1>
    <p class="lead">
      News of orders that the queue of order updates refused. Given back, the relay tries them again in their
      old place.
    </p>
    ${
      parked.rows.length === 0
        ? nothing(`Nothing is parked.${waitingWords(waiting)}`)
        : table(
            "Parked updates",
            [
              { title: "Number", isNumber: true, of: ({ id }) => String(id) },
              { title: "Order", of: ({ lcid }) => orderLink(lcid) },
              { title: "Version", isNumber: true, of: ({ version }) => count(version) },
              { title: "Reason", of: ({ reason }) => html`<span class="why">${reason}</span>` },
              { title: "Parked", of: ({ parkedAt }) => time(parkedAt) },
              {
                title: "Payload",
                of: ({ payload }) =>
                  html`<details>
                    <summary>JSON</summary>
                    <pre tabindex="0">${JSON.stringify(payload, null, 2)}</pre>
                  </details>`,
              },
              ...actsColumn<ParkedNews>(reader, ({ id }) => retryForm(id, reader)),
            ],
            parked.rows,
          )
    }
    ${furtherLink(parked, { words: "More", path: ({ id }) => `/parked?after=${id}` })}`;
  return page({ title: "Parked", reader, at: "/parked", notice, content });
}

function waitingWords({ outboxUnpublished, outboxLagMs }: Waiting): string {
  if (outboxUnpublished === 0) return " Every update has been passed on.";
  return ` ${counted(outboxUnpublished, "update waits", "updates wait")} to be passed on, the oldest for ${duration(outboxLagMs)}.`;
}

function retryForm(id: number, reader: Reader): Html {
  return html`<form method="post" action="/acts/give-back">
    ${formToken(reader)}<input type="hidden" name="id" value="${id}" />
    <button>Give back<span class="unseen"> ${id}</span></button>
  </form>`;
}
