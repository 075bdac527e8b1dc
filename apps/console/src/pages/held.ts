import type { HeldReport } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { heldTable } from "./event-tables.ts";
import { nothing, page } from "./layout.ts";
import { moreNote, tabs } from "./lists.ts";
import type { Listed, ListPageOptions } from "./lists.ts";

export function heldPage(
  held: Listed<HeldReport>,
  {
    reader,
    notice,
    back,
    within,
    nowMs,
  }: ListPageOptions & { readonly within: string; readonly nowMs: number },
): Html {
  const content = html`<h1>Held events</h1>
    <p class="lead">
      They came before what they need. Each is decided when that arrives, and rejected at its deadline.
    </p>
    ${tabs({
      label: "Due",
      path: "/held",
      name: "within",
      at: within,
      choices: [
        ["", "All"],
        ["2h", "Due within two hours"],
        ["24h", "Due within a day"],
      ],
    })}
    ${held.rows.length === 0 ? nothing(within === "" ? "Nothing is held." : "Nothing is due within that time.") : heldTable(held.rows, { reader, back, nowMs, ofSeveral: true })}
    ${moreNote(held)}`;
  return page({ title: "Held", reader, at: "/held", notice, content });
}
