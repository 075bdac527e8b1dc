import { html } from "../html.ts";
import type { Html } from "../html.ts";

/** In the query and not in the path: a path drops the names `.` and `..`. */
export function orderPath(lcid: string): string {
  return `/order?${new URLSearchParams({ lcid }).toString()}`;
}

export function eventPath({ source, id }: { readonly source: string; readonly id: string }): string {
  return `/event?${new URLSearchParams({ source, id }).toString()}`;
}

export function orderLink(lcid: string): Html {
  return html`<a class="name" href="${orderPath(lcid)}">${lcid}</a>`;
}

export function eventLink(event: { readonly source: string; readonly id: string }): Html {
  return html`<a class="name" href="${eventPath(event)}">${event.id}</a> <small>${event.source}</small>`;
}
