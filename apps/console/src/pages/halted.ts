import type { HaltedOrder } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { count, time } from "../words.ts";
import { nothing, page, table } from "./layout.ts";
import { eventLink, orderLink } from "./links.ts";
import { moreNote } from "./lists.ts";
import type { Listed, ListPageOptions } from "./lists.ts";
import { statusChip } from "./tones.ts";

export function haltedPage(
  halted: Listed<HaltedOrder>,
  { reader, notice }: Omit<ListPageOptions, "back">,
): Html {
  const content = html`<h1>Halted orders</h1>
    <p class="lead">
      Each stands behind an event that could not be decided; what comes after it waits, so that the order of
      events holds.
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
              { title: "Type", of: ({ failure }) => failure?.type },
              { title: "Reason", of: ({ failure }) => html`<span class="why">${failure?.reason}</span>` },
              { title: "Since", of: ({ failure, updatedAt }) => time(failure?.decidedAt ?? updatedAt) },
              { title: "Waiting behind", isNumber: true, of: ({ held }) => count(held) },
            ],
            halted.rows,
          )
    }
    ${moreNote(halted)}`;
  return page({ title: "Halted", reader, at: "/halted", notice, content });
}
