import type { ActionReport } from "@junban/order-store";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { time } from "../words.ts";
import { chip, nothing, page, table } from "./layout.ts";
import type { Reader } from "./layout.ts";
import type { Listed } from "./lists.ts";
import { statusChip } from "./tones.ts";

export function actionsPage(
  actions: Listed<ActionReport>,
  { reader, before }: { readonly reader: Reader; readonly before: number | null },
): Html {
  const oldest = actions.rows.at(-1)?.id;
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
              { title: "To", of: ({ target }) => html`<span class="name">${target}</span>` },
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
    ${actions.more && oldest !== undefined && html`<p><a href="/actions?before=${oldest}">Older</a></p>`}`;
  return page({ title: "Actions", reader, at: "/actions", content });
}
