import type { ActionReport, OrderStore } from "@junban/order-store";
import type { FastifyRequest } from "fastify";
import { personOf } from "../access.ts";
import { numberOf } from "../fields.ts";
import { html } from "../html.ts";
import type { Notice, Tone } from "../pages/layout.ts";
import { sentence } from "../words.ts";

/** What the reader did a moment ago, by the number in the address. Somebody else's is not theirs to be told, nor worth an error. */
export async function noticeOf(
  store: Pick<OrderStore, "readAction">,
  request: FastifyRequest,
): Promise<Notice | null> {
  const id = numberOf(request, "told");
  if (id === null) return null;
  const action = await store.readAction(id).catch(() => null);
  return action === null || action.who !== personOf(request).name ? null : noticeAbout(action);
}

const TONES: Readonly<Record<NonNullable<ActionReport["result"]>, Tone>> = {
  done: "good",
  refused: "wait",
  failed: "bad",
};
const WORDS = {
  done: "Done",
  refused: "Nothing was changed",
  failed: "It is not certain whether this was done",
} as const;

function noticeAbout({ act, target, result, detail }: ActionReport): Notice {
  if (result === null) return { tone: "wait", text: html`${act} ${target}: its end has not been noted.` };
  return {
    tone: TONES[result],
    text: html`${WORDS[result]}: ${act} ${target}. ${sentence(detail ?? "")}`,
  };
}
