import type { Decision } from "./decision.ts";
import type { CancelConfirmed, CancelRejected, CancelRequested, LineQuantity } from "./event.ts";
import { applyToLines } from "./order-bounds.ts";
import type { Line, OrderView, Ref, RefName } from "./order.ts";
import { activeOf } from "./quantities.ts";
import { applied, deferred, lineKnownAs, named, refFor, rejected } from "./rules.ts";
import type { EventRules } from "./rules.ts";

type CancelType = "cancel.requested" | "cancel.confirmed" | "cancel.rejected";

export const CANCEL_RULES: EventRules<CancelType> = {
  "cancel.requested": {
    keyOf: ({ data }) => named("cancel-request", data.cancelId),
    looksUp: () => [],
    decide: decideRequested,
  },
  "cancel.confirmed": {
    keyOf: ({ data }) => named("cancel-confirm", data.cancelId),
    looksUp: ({ data }) => [requestNamed(data.cancelId)],
    decide: decideConfirmed,
  },
  "cancel.rejected": {
    keyOf: ({ data }) => named("cancel-reject", data.cancelId),
    looksUp: ({ data }) => [requestNamed(data.cancelId)],
    decide: decideRejected,
  },
};

function requestNamed(cancelId: string): RefName {
  return named("cancel-request", cancelId);
}

/** A request moves nothing. It is recorded on a cancelled order too, so that its answer finds it. */
function decideRequested(view: OrderView, event: CancelRequested): Decision {
  const { cancelId, scope, items } = event.data;
  const isUnknownLine = items.some(({ lineId }) => view.line(lineId) === undefined);
  if (isUnknownLine) return deferred("LINE_NOT_FOUND");
  const request = refFor(event, requestNamed(cancelId), { open: true, detail: { scope, items } });
  const openCancels = view.totals.openCancels + (scope === "order" ? 1 : 0);
  return applied(view, { totals: { openCancels }, refs: [request] });
}

function decideConfirmed(view: OrderView, event: CancelConfirmed): Decision {
  const request = view.ref(requestNamed(event.data.cancelId));
  if (request === undefined) return deferred("CANCEL_NOT_REQUESTED");
  if (!request.open) return rejected("CANCEL_CLOSED");
  if (view.totals.cancelled) return rejected("ALREADY_CANCELLED");
  const answer = refFor(event, named("cancel-confirm", event.data.cancelId), {
    parent: requestNamed(event.data.cancelId),
  });
  const refs = [answer, { ...request, open: false }];
  return isForOrder(request)
    ? cancelOrder(view, refs)
    : cancelLines(view, { items: request.detail?.items ?? [], refs });
}

function cancelOrder(view: OrderView, refs: readonly Ref[]): Decision {
  const lines: Line[] = [];
  for (const line of view.lines()) {
    if (line.shipped > 0) return rejected("ALREADY_SHIPPED");
    lines.push({ ...line, cancelled: line.quantity });
  }
  const openCancels = view.totals.openCancels - 1;
  return applied(view, { totals: { cancelled: true, openCancels }, lines, refs });
}

function cancelLines(
  view: OrderView,
  { items, refs }: { readonly items: readonly LineQuantity[]; readonly refs: readonly Ref[] },
): Decision {
  const lines: Line[] = [];
  for (const { lineId, quantity } of items) {
    const line = lineKnownAs(view, lineId);
    if (quantity > activeOf(line)) return deferred("EXCEEDS_ORDERED");
    if (quantity > activeOf(line) - line.shipped) return rejected("ALREADY_SHIPPED");
    lines.push({ ...line, cancelled: line.cancelled + quantity });
  }
  return applyToLines(view, { lines, refs });
}

function decideRejected(view: OrderView, event: CancelRejected): Decision {
  const parent = requestNamed(event.data.cancelId);
  const request = view.ref(parent);
  if (request === undefined) return deferred("CANCEL_NOT_REQUESTED");
  if (!request.open) return rejected("CANCEL_CLOSED");
  const openCancels = view.totals.openCancels - (isForOrder(request) ? 1 : 0);
  const answer = refFor(event, named("cancel-reject", event.data.cancelId), { parent });
  return applied(view, { totals: { openCancels }, refs: [answer, { ...request, open: false }] });
}

function isForOrder(request: Ref): boolean {
  return request.detail?.scope === "order";
}
