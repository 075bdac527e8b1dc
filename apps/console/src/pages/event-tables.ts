import type { DeadLetter, HeldReport } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { time, until } from "../words.ts";
import { actForms, actsColumn } from "./act-forms.ts";
import { chip, table } from "./layout.ts";
import type { Column, Reader } from "./layout.ts";
import { eventLink, orderLink } from "./links.ts";
import { reasonWords } from "./reasons.ts";

export interface EventTableOptions {
  readonly reader: Reader;
  /** Where acts come back to. */
  readonly back: string;
  /** Names the order of each, where they are of several. */
  readonly ofSeveral?: boolean;
}

/** Events that failed or were rejected. */
export function deadTable(
  letters: readonly DeadLetter[],
  { reader, back, ofSeveral = false }: EventTableOptions,
): Html {
  return table(
    "Dead letters",
    [
      ...orderColumn(ofSeveral),
      { title: "Event", of: (letter) => eventLink(letter) },
      { title: "Type", of: ({ type, alert }) => html`${type} ${alert && chip("alert", "bad")}` },
      {
        title: "Reason",
        of: ({ reason, detail }) =>
          html`${reasonWords(reason)}${detail !== null && html`<br /><small>${detail}</small>`}`,
      },
      { title: "Decided", of: ({ decidedAt }) => time(decidedAt) },
      ...actsColumn<DeadLetter>(reader, ({ source, id, outcome, alert }) =>
        actForms({ address: { kind: "event", source, id }, outcome, alert, reader, back }),
      ),
    ],
    letters,
  );
}

/** Events that wait. */
export function heldTable(
  held: readonly HeldReport[],
  { reader, back, nowMs, ofSeveral = false }: EventTableOptions & { readonly nowMs: number },
): Html {
  return table(
    "Held events",
    [
      ...orderColumn(ofSeveral),
      { title: "Event", of: (event) => eventLink(event) },
      { title: "Type", of: ({ type }) => type },
      { title: "Waits for", of: ({ reason }) => reasonWords(reason) },
      {
        title: "Until",
        of: ({ until: moment }) => (moment === null ? "no deadline" : deadline(moment, nowMs)),
      },
      ...actsColumn<HeldReport>(reader, ({ source, id }) =>
        actForms({ address: { kind: "event", source, id }, outcome: "deferred", reader, back }),
      ),
    ],
    held,
  );
}

function orderColumn(ofSeveral: boolean): readonly Column<{ readonly lcid: string }>[] {
  return ofSeveral ? [{ title: "Order", of: ({ lcid }) => orderLink(lcid) }] : [];
}

const SOON_MS = 3_600_000;

function deadline(moment: Date, nowMs: number): Html {
  const words = until(moment, nowMs);
  const isSoon = moment.getTime() - nowMs < SOON_MS;
  return html`${isSoon ? chip(words, "bad") : words} <small>${time(moment)}</small>`;
}
