import type { DeadLetter } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { time } from "../words.ts";
import { LONGEST_QUERY, nothing, page, table, unknown } from "./layout.ts";
import type { Reader } from "./layout.ts";
import { eventLink, orderLink } from "./links.ts";
import { moreNote } from "./lists.ts";
import type { Listed } from "./lists.ts";
import { reasonWords } from "./reasons.ts";
import { statusChip } from "./tones.ts";

export interface Found {
  readonly query: string;
  readonly source: string;
  /** The order of that name; null where there is none. */
  readonly order: string | null;
  /** False when Redis could not be asked what stands in line. */
  readonly isLineKnown: boolean;
  readonly events: Listed<DeadLetter>;
}

export function searchPage({ query, source, order, isLineKnown, events }: Found, reader: Reader): Html {
  const content = html`<h1>Found</h1>
    <form class="filter" action="/search">
      <label
        >Order or event id <input name="q" value="${query}" maxlength="${LONGEST_QUERY}" required
      /></label>
      <label
        >Source of the event <input name="source" value="${source}" maxlength="256" placeholder="any"
      /></label>
      <button>Find</button>
    </form>
    ${!isLineKnown && unknown("What stands in line", "Redis does not answer")}
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
            of: ({ outcome, reason }) => html`${statusChip(outcome)} <small>${reasonWords(reason)}</small>`,
          },
          { title: "Decided", of: ({ decidedAt }) => time(decidedAt) },
        ],
        events.rows,
      )
    }
    ${order === null && events.rows.length === 0 && nothing(`${notFound(source, isLineKnown)} An event that still stands in line is found on the page of its order. Names are compared letter by letter.`)}
    ${moreNote(events)}`;
  return page({ title: "Search", reader, content, query });
}

/** No more than was looked at. */
function notFound(source: string, isLineKnown: boolean): string {
  if (source !== "") return "No event of that source and id has been decided, or its order was purged.";
  return isLineKnown
    ? "No order has that name, decided, purged or in line, and no event of that id has been decided, or its order was purged."
    : "No order or event of that name has been decided; which orders stand in line is not known.";
}
