import type { DeadJob } from "@junban/event-queues";
import { counted } from "@junban/operations";
import type { DeadLetter } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { time } from "../words.ts";
import { actForms, actsColumn } from "./act-forms.ts";
import { deadTable } from "./event-tables.ts";
import { nothing, page, table } from "./layout.ts";
import type { Reader } from "./layout.ts";
import { furtherLink, moreNote, tabs } from "./lists.ts";
import type { Listed, ListPageOptions } from "./lists.ts";

export type DeadKind = "failed" | "alerts" | "rejected" | "jobs";

export type DeadList =
  | { readonly kind: "failed" | "alerts" | "rejected"; readonly letters: Listed<DeadLetter> }
  | { readonly kind: "jobs"; readonly jobs: Listed<DeadJob> };

export function deadPage(
  list: DeadList,
  { reader, notice, back, reason }: ListPageOptions & { readonly reason: string },
): Html {
  const content = html`<h1>Dead letters</h1>
    ${tabs({
      label: "Kinds",
      path: "/dead",
      name: "outcome",
      at: list.kind,
      choices: [
        ["failed", "Failed"],
        ["alerts", "Open alerts"],
        ["rejected", "Rejected"],
        ["jobs", "Unusable jobs"],
      ],
    })}
    ${list.kind === "jobs" ? deadJobs(list.jobs, { reader, back }) : deadEvents(list, { reader, back, reason })}`;
  return page({ title: "Dead letters", reader, at: "/dead", notice, content });
}

const LEADS = {
  failed: "Each could not be decided and halts its order. Mend the cause and replay it, or drop it.",
  alerts:
    "Each was rejected and happened in the real world all the same. Acknowledge it once somebody has seen to it.",
  rejected:
    "Each broke a rule, for good. An alert stands for something that happened in the real world all the same.",
} as const;

function deadEvents(
  { kind, letters }: Extract<DeadList, { letters: unknown }>,
  { reader, back, reason }: { reader: Reader; back: string; reason: string },
): Html {
  return html`<p class="lead">${LEADS[kind]}</p>
    <form class="filter" action="/dead">
      <input type="hidden" name="outcome" value="${kind}" />
      <label>Reason <input name="reason" value="${reason}" maxlength="128" placeholder="all" /></label>
      <button>Filter</button>
    </form>
    ${
      letters.rows.length === 0
        ? nothing(reason === "" ? NONE[kind] : `None with the reason ${reason}.`)
        : deadTable(letters.rows, { reader, back, ofSeveral: true })
    }
    ${furtherLink(letters, {
      words: "Older",
      path: ({ seq }) =>
        `/dead?${new URLSearchParams({ outcome: kind, ...(reason === "" ? {} : { reason }), before: String(seq) }).toString()}`,
    })}`;
}

const NONE = {
  failed: "No event has failed.",
  alerts: "No alert is open.",
  rejected: "No event was rejected.",
} as const;

function deadJobs(jobs: Listed<DeadJob>, { reader, back }: { reader: Reader; back: string }): Html {
  if (jobs.rows.length === 0) return nothing("No job is dead.");
  return html`<p class="lead">Jobs that hold no usable event. They belong to no order and hold up nobody.</p>
    ${table(
      "Unusable jobs",
      [
        { title: "Family", of: ({ family }) => family },
        { title: "Job", of: ({ id, name }) => html`<span class="name">${id}</span> <small>${name}</small>` },
        { title: "Reason", of: ({ reason }) => reason },
        { title: "Failed", of: ({ failedAtMs }) => time(new Date(failedAtMs)) },
        {
          title: "Data",
          of: ({ text }) =>
            html`<details>
              <summary>${counted(text.length, "character")}</summary>
              <pre tabindex="0">${text.slice(0, MOST_TEXT)}</pre>
            </details>`,
        },
        ...actsColumn<DeadJob>(reader, ({ family, id }) =>
          actForms({ address: { kind: "job", family, id }, outcome: "job", reader, back }),
        ),
      ],
      jobs.rows,
    )}
    ${moreNote(jobs)}`;
}

const MOST_TEXT = 4_000;
