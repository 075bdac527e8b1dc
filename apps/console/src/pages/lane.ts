import { turnsLost } from "@junban/operations";
import type { Answer, LaneInFull } from "@junban/operations";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { count, duration } from "../words.ts";
import { chip, facts, nothing, table, unknown } from "./layout.ts";

/** Requests of a line that are shown. */
export const LINE_SHOWN = 20;

export function laneSection(lane: Answer<LaneInFull>, { nowMs }: { readonly nowMs: number }): Html {
  return html`<section aria-labelledby="lane">
    <h2 id="lane">Lane</h2>
    ${lane.kind === "unknown" ? unknown("The lane", "Redis does not answer") : known(lane.value, nowMs)}
  </section>`;
}

function known(lane: LaneInFull, nowMs: number): Html {
  const { depth, holder, leaseLeftMs, seats, consistent, line } = lane;
  if (depth === 0 && holder === null) return nothing("Nothing stands in line, and nobody holds it.");
  return html`<div class="lane">
    ${facts(
      [
        ["Holder", holder === null ? chip("nobody", "wait") : html`<code>${holder}</code>`],
        ["Lease left", holder === null ? "–" : duration(leaseLeftMs)],
        ["In line", count(depth)],
        ["Jobs that wait", count(seats)],
        ["Turns lost in a row", turnsLost(lane) > 0 ? chip(count(turnsLost(lane)), "bad") : "0"],
        ...(consistent ? [] : [["Line", chip("does not match its bodies", "wait")] as const]),
      ],
      { isWide: true },
    )}
    ${
      line.length > 0 &&
      table(
        "Events in line, the next one first",
        [
          { title: "Place", isNumber: true, of: ({ place }) => count(place) },
          { title: "Type", of: ({ event }) => event?.type ?? chip("no usable event", "bad") },
          {
            title: "Event",
            of: ({ event }) => event !== null && html`${event.id} <small>${event.source}</small>`,
          },
          {
            title: "Waits",
            isNumber: true,
            of: ({ publishedAtMs }) =>
              publishedAtMs === null ? "–" : duration(Math.max(0, nowMs - publishedAtMs)),
          },
        ],
        line,
      )
    }
    ${depth > line.length && html`<p class="summary">and ${count(depth - line.length)} more</p>`}
  </div>`;
}
