import { freeingSays, turnsLost } from "@junban/operations";
import type { Answer, LaneInFull } from "@junban/operations";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { count, duration } from "../words.ts";
import { chip, facts, formToken, nothing, table, unknown } from "./layout.ts";
import type { Reader } from "./layout.ts";

/** Requests of a line that are shown. */
export const LINE_SHOWN = 20;

export interface LaneOptions {
  readonly nowMs: number;
  readonly reader: Reader;
}

export function laneSection(lane: Answer<LaneInFull>, options: LaneOptions): Html {
  return html`<section aria-labelledby="lane">
    <h2 id="lane">Lane</h2>
    ${lane.kind === "unknown" ? unknown("The lane", "Redis does not answer") : known(lane.value, options)}
  </section>`;
}

function known(lane: LaneInFull, { nowMs, reader }: LaneOptions): Html {
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
    ${holder !== null && reader.role === "operator" && freeForm(lane, reader)}
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
            title: "Age",
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

/** Behind what it does, in full: it is for a holder that is known to be gone while its lease is long. */
function freeForm({ lcid, holder, leaseLeftMs }: LaneInFull, reader: Reader): Html {
  return html`<div class="acts">
    <details>
      <summary>Free this lane</summary>
      <p class="notice wait">${freeingSays({ lcid, holder, leaseLeftMs })}</p>
      <p>
        A holder that is alive renews its lease each third of it. Load the page again: where less is left each
        time, nobody renews it.
      </p>
      <form method="post" action="/acts/free-lane">
        ${formToken(reader)}<input type="hidden" name="lcid" value="${lcid}" /><input
          type="hidden"
          name="holder"
          value="${holder}"
        />
        <button class="danger">Free it</button>
      </form>
    </details>
  </div>`;
}
