import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { frame, page } from "./layout.ts";
import type { Reader } from "./layout.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "This cannot be read",
  403: "Not allowed",
  404: "Nothing here",
  429: "Too often",
  503: "Not now",
};

/** Why there is no page, for people. */
export function troublePage(
  {
    status,
    message,
    back,
  }: { readonly status: number; readonly message: string; readonly back: string | null },
  reader: Reader | null,
): Html {
  const title = TITLES[status] ?? "A fault of the console";
  const content = html`<h1>${title}</h1>
    <p>${message}</p>
    ${back !== null && html`<p><a href="${back}">Back to the page before</a></p>`}`;
  return reader === null
    ? frame(title, html`<main class="door">${content}</main>`)
    : page({ title, reader, content });
}
