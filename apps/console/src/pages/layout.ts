import { html } from "../html.ts";
import type { Content, Html } from "../html.ts";

/** Who looks, as far as a page has to know. */
export interface Reader {
  readonly name: string;
  readonly role: "viewer" | "operator";
  readonly formToken: string;
  /** False for those whom a proxy vouches for. */
  readonly canLogOut: boolean;
}

/** What was done a moment ago. */
export interface Notice {
  readonly tone: Tone;
  readonly text: Content;
}

export type Tone = "good" | "calm" | "wait" | "bad";

export interface PageOptions {
  readonly title: string;
  readonly reader: Reader;
  /** Path of the part of the console that this page belongs to. */
  readonly at?: string;
  readonly notice?: Notice | null;
  readonly content: Content;
  /** Begins with the query that was searched for. */
  readonly query?: string;
}

/** Takes a source and an id, each as long as it may be. */
export const LONGEST_QUERY = 513;

const PARTS = [
  ["/", "Fleet"],
  ["/held", "Held"],
  ["/dead", "Dead letters"],
  ["/halted", "Halted"],
  ["/parked", "Parked"],
  ["/actions", "Actions"],
  ["/doctor", "Doctor"],
  ["/queues", "Queues"],
] as const;

export function page({ title, reader, at, notice = null, content, query = "" }: PageOptions): Html {
  return frame(
    title,
    html`<header class="top">
        <a class="skip" href="#content">Skip to content</a>
        <a class="brand" href="/">${brand()}</a>
        <nav aria-label="Parts">
          ${PARTS.map(
            ([path, name]) =>
              html`<a href="${path}" ${path === at ? html`aria-current="page"` : ""}>${name}</a>`,
          )}
        </nav>
        <form class="search" role="search" action="/search">
          <input
            type="search"
            name="q"
            value="${query}"
            maxlength="${LONGEST_QUERY}"
            required
            aria-label="Order or event id"
            placeholder="Order or event id"
            data-search
          />
          <button>Find</button>
        </form>
        <div class="reader">
          <span title="${reader.role}">${reader.name} <small>${reader.role}</small></span>
          ${
            reader.canLogOut &&
            html`<form method="post" action="/logout">
              ${formToken(reader)}<button class="plain">Log out</button>
            </form>`
          }
        </div>
      </header>
      <main id="content" tabindex="-1">
        ${notice !== null && html`<p class="notice ${notice.tone}" role="status" tabindex="-1">${notice.text}</p>`}
        ${content}
      </main>
      <footer class="foot">Times are in UTC.</footer>`,
  );
}

/** Three in a line. A picture and no 順番: not every machine has the letters. */
export function brand(): Html {
  return html`<img src="/assets/icon.svg" alt="" width="22" height="22" /> Junban`;
}

/** A page of its own, before anybody is known. */
export function frame(title: string, body: Content): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Junban</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/console.css" />
        <script src="/assets/console.js" defer></script>
      </head>
      <body>
        ${body}
      </body>
    </html> `;
}

export function formToken({ formToken: token }: Pick<Reader, "formToken">): Html {
  return html`<input type="hidden" name="token" value="${token}" />`;
}

export function chip(text: string, tone: Tone): Html {
  return html`<span class="chip ${tone}">${text}</span>`;
}

/** Names and values: one below the other, or side by side where there is room. */
export function facts(
  rows: readonly (readonly [name: string, value: Content])[],
  { isWide = false }: { readonly isWide?: boolean } = {},
): Html {
  return html`<dl class="facts${isWide && " wide"}">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Content;
  /** Numbers stand to the right, under one another. */
  readonly isNumber?: boolean;
}

/** On a phone each row becomes a card, in which every cell says what it is, unless the table is narrow enough as it is. */
export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { isNarrow = false }: { readonly isNarrow?: boolean } = {},
): Html {
  const numeric = ({ isNumber }: Column<Row>): Content => isNumber === true && html` class="number"`;
  return html`<table${isNarrow && html` class="narrow"`}>
    <caption class="unseen">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col" ${numeric(column)}>${column.title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${columns.map(
              (column) =>
                html`<td${numeric(column)} data-title="${column.title}"><div>${column.of(row)}</div></td>`,
            )}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

export function nothing(text: string): Html {
  return html`<p class="nothing">${text}</p>`;
}

/** A part of a page that could not be read, while the rest could. */
export function unknown(what: string, why: string): Html {
  return html`<p class="notice bad">${what} cannot be read: ${why}</p>`;
}
