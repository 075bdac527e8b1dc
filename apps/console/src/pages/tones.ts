import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { spoken } from "../words.ts";
import { chip } from "./layout.ts";
import type { Tone } from "./layout.ts";
import { reasonWords } from "./reasons.ts";

/** Calm is the ordinary course of things, good has ended well, wait needs time, bad needs people. */
const TONES: Readonly<Record<string, Tone>> = {
  awaiting_placement: "wait",
  placed: "calm",
  confirmed: "calm",
  cancel_requested: "wait",
  in_fulfilment: "calm",
  completed: "good",
  cancelled: "calm",

  refund_due: "bad",
  refunded: "good",
  partially_refunded: "calm",
  paid: "good",
  partially_captured: "calm",
  authorized: "calm",
  partially_authorized: "calm",
  voided: "calm",
  failed: "bad",
  unpaid: "wait",

  shipped: "good",
  partially_shipped: "calm",
  backordered: "wait",
  allocated: "calm",
  partially_allocated: "calm",
  unallocated: "wait",

  applied: "good",
  duplicate: "calm",
  rejected: "bad",
  deferred: "wait",

  done: "good",
  refused: "wait",
};

/** @param of whose status it is, where that is not said beside it. */
export function statusChip(status: string, of = ""): Html {
  const label = of === "" ? "" : `${of}: `;
  return chip(`${label}${spoken(status)}`, TONES[status] ?? "calm");
}

/** What became of an event, and why. */
export function outcomeChip({
  outcome,
  reason,
}: {
  readonly outcome: string;
  readonly reason: string | null;
}): Html {
  const why = reason === null ? "" : html` <small>${reasonWords(reason)}</small>`;
  return html`${statusChip(outcome)}${why}`;
}
