import type { DeadLetter } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { time } from "../words.ts";
import { nothing, page, table } from "./layout.ts";
import type { Reader } from "./layout.ts";
import { eventLink, orderLink } from "./links.ts";
import { moreNote } from "./lists.ts";
import type { Listed } from "./lists.ts";
import { statusChip } from "./tones.ts";

export interface Found {
  readonly query: string;
  readonly source: string;
  /** Whether there is an order of that name; null when it could not be asked. */
  readonly order: string | null;
  readonly events: Listed<DeadLetter>;
}

export function searchPage({ query, source, order, events }: Found, reader: Reader): Html {
  const content = html`<h1>Found</h1>
    <form class="filter" action="/search">
      <label>Order or event id <input name="q" value="${query}" maxlength="256" required /></label>
      <label
        >Source of the event <input name="source" value="${source}" maxlength="256" placeholder="any"
      /></label>
      <button>Find</button>
    </form>
    ${order !== null && html`<p>Order ${orderLink(order)}</p>`}
    ${
      events.rows.length > 0 &&
      table(
        "Events",
        [
          { title: "Event", of: (event) => eventLink(event) },
          { title: "Order", of: ({ lcid }) => orderLink(lcid) },
          { title: "Type", of: ({ type }) => type },
          {
            title: "Outcome",
            of: ({ outcome, reason }) => html`${statusChip(outcome)} <small>${reason}</small>`,
          },
          { title: "Decided", of: ({ decidedAt }) => time(decidedAt) },
        ],
        events.rows,
      )
    }
    ${order === null && events.rows.length === 0 && nothing("No order and no event has that name. Names are compared letter by letter.")}
    ${moreNote(events)}`;
  return page({ title: "Search", reader, content, query });
}
