import type { ActionReport } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { time } from "../words.ts";
import { chip, nothing, page, table } from "./layout.ts";
import type { Reader } from "./layout.ts";
import { orderPath } from "./links.ts";
import { furtherLink } from "./lists.ts";
import type { Listed } from "./lists.ts";
import { statusChip } from "./tones.ts";

export function actionsPage(
  actions: Listed<ActionReport>,
  { reader, before }: { readonly reader: Reader; readonly before: number | null },
): Html {
  const content = html`<h1>Actions</h1>
    <p class="lead">Everything that operators did, here and by the junban command, newest first.</p>
    ${
      actions.rows.length === 0
        ? nothing(before === null ? "Nobody has done anything yet." : "Nothing older.")
        : table(
            "Actions",
            [
              { title: "When", of: ({ begunAt }) => time(begunAt) },
              { title: "Who", of: ({ who }) => who },
              { title: "Act", of: ({ act }) => act },
              { title: "To", of: targetOf },
              { title: "Reason", of: ({ reason }) => reason },
              {
                title: "Result",
                of: ({ result, detail }) =>
                  html`${result === null ? chip("no end noted", "wait") : statusChip(result)}
                    <small>${detail}</small>`,
              },
            ],
            actions.rows,
          )
    }
    ${furtherLink(actions, { words: "Older", path: ({ id }) => `/actions?before=${id}` })}`;
  return page({ title: "Actions", reader, at: "/actions", content });
}

const ON_EVENTS: ReadonlySet<string> = new Set(["replay", "drop", "acknowledge"]);

/** Leads to what was acted on. Search takes an event as the record names it, and says so where it is gone by now. */
function targetOf({ act, target }: ActionReport): Html {
  const path =
    act === "free lane"
      ? orderPath(target.split(", held by ")[0] ?? "")
      : `/search?${new URLSearchParams({ q: target }).toString()}`;
  const isFound = act === "free lane" || (ON_EVENTS.has(act) && !target.startsWith("job:"));
  return isFound
    ? html`<a class="name" href="${path}">${target}</a>`
    : html`<span class="name">${target}</span>`;
}
