import type { EventReport } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { count, duration, time } from "../words.ts";
import { actForms } from "./act-forms.ts";
import { chip, facts, page } from "./layout.ts";
import type { Notice, Reader } from "./layout.ts";
import { eventPath, orderLink } from "./links.ts";
import { outcomeChip } from "./tones.ts";

export function eventPage(
  event: EventReport,
  { reader, notice }: { reader: Reader; notice: Notice | null },
): Html {
  const { id, source, lcid, type, version, outcome, detail, alert, arrival, publishedAt, decidedAt } = event;
  const content = html`<div class="title">
      <h1 class="name">${id}</h1>
      <p class="chips">${outcomeChip(event)} ${alert && chip("alert", "bad")}</p>
    </div>
    ${actForms({ address: { kind: "event", source, id }, outcome, alert, reader, back: eventPath(event) })}
    <div class="columns">
      <section aria-label="Facts">
        ${facts([
          ["Order", orderLink(lcid)],
          ["Source", source],
          ["Type", type],
          ["Version it made", version === null ? "–" : count(version)],
          ["Place in its order", count(arrival)],
          ["Published", time(publishedAt)],
          ["Decided", html`${time(decidedAt)} <small>${after(event)}</small>`],
          ["Held until", event.deferredUntil === null ? "–" : time(event.deferredUntil)],
          ["Decided by", event.worker],
          ["Detail", detail ?? "–"],
        ])}
      </section>
      <section aria-labelledby="body">
        <h2 id="body">As it was published</h2>
        ${body(event)}
      </section>
    </div>`;
  return page({ title: id, reader, notice, content });
}

function after({ publishedAt, decidedAt }: EventReport): string {
  return `${duration(Math.max(0, decidedAt.getTime() - publishedAt.getTime()))} later`;
}

function body({ event, raw }: EventReport): Html {
  if (event === null) {
    return html`<p>It could not be kept whole. An excerpt:</p>
      <pre tabindex="0">${raw}</pre>`;
  }
  return html`<pre tabindex="0">${JSON.stringify(event, null, 2)}</pre>`;
}
