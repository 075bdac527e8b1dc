import type { HaltedOrder } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { count, time } from "../words.ts";
import { actForms, actsColumn } from "./act-forms.ts";
import { nothing, page, table } from "./layout.ts";
import { eventLink, orderLink } from "./links.ts";
import { furtherLink } from "./lists.ts";
import type { Listed, ListPageOptions } from "./lists.ts";
import { reasonWords } from "./reasons.ts";
import { statusChip } from "./tones.ts";

export function haltedPage(halted: Listed<HaltedOrder>, { reader, notice, back }: ListPageOptions): Html {
  const content = html`<h1>Halted orders</h1>
    <p class="lead">
      Each stands behind an event that could not be decided; what comes after it waits, so that the order of
      events holds. Mend the cause and replay the event, or drop it.
    </p>
    ${
      halted.rows.length === 0
        ? nothing("No order is halted.")
        : table(
            "Halted orders",
            [
              { title: "Order", of: ({ lcid }) => orderLink(lcid) },
              { title: "Status", of: ({ status }) => statusChip(status) },
              {
                title: "Failed event",
                of: ({ failure }) => (failure === null ? "none any more" : eventLink(failure)),
              },
              {
                title: "Reason",
                of: ({ failure }) =>
                  html`${reasonWords(failure?.reason)}<br /><small>${failure?.type}</small>`,
              },
              { title: "Since", of: ({ failure, updatedAt }) => time(failure?.decidedAt ?? updatedAt) },
              { title: "Waiting behind", isNumber: true, of: ({ held }) => count(held) },
              ...actsColumn<HaltedOrder>(reader, ({ failure }) =>
                failure === null
                  ? html``
                  : actForms({ address: { kind: "event", ...failure }, outcome: "failed", reader, back }),
              ),
            ],
            halted.rows,
          )
    }
    ${furtherLink(halted, {
      words: "More",
      path: ({ lcid }) => `/halted?${new URLSearchParams({ after: lcid }).toString()}`,
    })}`;
  return page({ title: "Halted", reader, at: "/halted", notice, content });
}
