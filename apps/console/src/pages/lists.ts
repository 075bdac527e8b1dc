import { html } from "../html.ts";
import type { Content, Html } from "../html.ts";
import { count } from "../words.ts";
import type { Notice, Reader } from "./layout.ts";

/** A list, and whether there is more than it shows. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly more: boolean;
}

export interface ListPageOptions {
  readonly reader: Reader;
  readonly notice: Notice | null;
  /** The page's own address, where acts come back to. */
  readonly back: string;
}

export interface TabsOptions {
  readonly label: string;
  readonly path: string;
  /** The part of the address that they choose. */
  readonly name: string;
  readonly at: string;
  readonly choices: readonly (readonly [value: string, words: string])[];
}

export function tabs({ label, path, name, at, choices }: TabsOptions): Html {
  return html`<nav class="tabs" aria-label="${label}">
    ${choices.map(
      ([value, words]): Content =>
        html`<a
          href="${value === "" ? path : `${path}?${name}=${value}`}"
          ${value === at && html`aria-current="page"`}
          >${words}</a
        >`,
    )}
  </nav>`;
}

/** Says so where a list ends before its end. */
export function moreNote({ rows, more }: Listed<unknown>): Content {
  return more && html`<p class="summary">The first ${count(rows.length)}; there are more.</p>`;
}

/** Leads to what comes behind the last row, where there is more. */
export function furtherLink<Row>(
  { rows, more }: Listed<Row>,
  { words, path }: { readonly words: string; readonly path: (last: Row) => string },
): Content {
  const last = rows.at(-1);
  return more && last !== undefined && html`<p><a href="${path(last)}">${words}</a></p>`;
}
