import { type DraftLine, type DraftRequest, type OrderDraft, activeOf, remember, strike } from "./draft.ts";
import type { Scene } from "./scene.ts";

const MOST_LINES = 40;

/** What the shop and the service desk tell after placement: line edits and cancels. */
export const orderScenes: readonly Scene[] = [
  { weight: (draft) => addLineWeight(draft), play: addLine },
  { weight: (draft) => changeWeight(draft), play: changeQuantity },
  { weight: (draft) => (removable(draft).length > 0 ? 0.15 : 0), play: removeLine },
  {
    weight: (draft) => (draft.cancelled || draft.shipped > 0 || draft.requests.length > 2 ? 0 : 0.3),
    play: requestOrderCancel,
  },
  {
    weight: (draft) => (cancellable(draft).length > 0 && draft.requests.length < 3 ? 0.35 : 0),
    play: requestLineCancel,
  },
  { weight: (draft) => confirmWeight(draft), play: confirmCancel },
  { weight: (draft) => (draft.requests.length > 0 ? 1.2 : 0), play: rejectCancel },
];

/** The first event of every story. */
export function place(draft: OrderDraft): void {
  const { random } = draft;
  draft.currency = random.chance(0.9) ? "JPY" : random.pick(["EUR", "USD"]);
  draft.shipGate = random.chance(0.8) ? "captured" : "authorized";
  const drafts = Array.from({ length: random.whole(1, 5) }, () => newLine(draft));
  const goods = drafts.reduce((sum, line) => sum + line.quantity * line.unitAmount, 0);
  const shipping = random.pick([0, 300, 550, 880]);
  // No more than one unit of the cheapest line, so that later edits rarely bring the total below zero.
  const discount = random.chance(0.2) ? Math.min(...drafts.map((line) => line.unitAmount), 500) : 0;
  draft.adjustment = Math.floor(goods / 10) + shipping - discount;
  const item = draft.tell({
    source: "/shop",
    type: "order.placed",
    data: {
      currency: draft.currency,
      adjustment: draft.adjustment,
      shipGate: draft.shipGate,
      lines: drafts,
      channel: random.pick(["web", "app", "phone"]),
    },
  });
  for (const line of drafts) draft.lines.push({ ...line, ...freshCounts(line.quantity), shaped: item });
}

interface NewLine {
  readonly lineId: string;
  readonly sku: string;
  readonly quantity: number;
  readonly unitAmount: number;
}

function newLine(draft: OrderDraft): NewLine {
  const { random } = draft;
  return {
    lineId: draft.name("L"),
    sku: `${random.pick(["TEA", "RICE", "MISO", "NORI", "SAKE", "CUP"])}-${random.whole(100, 999)}`,
    quantity: random.chance(0.5) ? 1 : random.whole(2, 6),
    unitAmount: random.chance(0.02) ? 0 : random.whole(2, 98) * (draft.currency === "JPY" ? 50 : 45),
  };
}

function freshCounts(quantity: number): Pick<DraftLine, "peak" | "cancelled" | "held" | "shipped"> {
  return { peak: quantity, cancelled: 0, held: 0, shipped: 0 };
}

function addLineWeight(draft: OrderDraft): number {
  if (draft.cancelled || draft.lines.length >= MOST_LINES) return 0;
  return draft.lasting ? 0.3 : 0.15;
}

function addLine(draft: OrderDraft): void {
  const line = newLine(draft);
  const item = draft.tell({
    source: draft.random.pick(["/shop", "/service-desk"]),
    type: "line.added",
    data: { ...line },
    needs: [draft.placement],
  });
  draft.lines.push({ ...line, ...freshCounts(line.quantity), shaped: item });
}

function changeWeight(draft: OrderDraft): number {
  if (draft.cancelled) return 0;
  return draft.lasting ? 1.2 : 0.35;
}

function changeQuantity(draft: OrderDraft): void {
  const { random } = draft;
  const line = random.pick(draft.lines);
  const others = draft.active - activeOf(line);
  const least = Math.max(1, line.cancelled + line.shipped, others === 0 ? line.cancelled + 1 : 0);
  const quantity = random.whole(least, Math.min(9_000, Math.max(least, line.quantity + 3)));
  line.shaped = draft.tell({
    source: random.pick(["/shop", "/service-desk"]),
    type: "line.quantity_changed",
    data: {
      changeId: draft.name("edit"),
      lineId: line.lineId,
      fromQuantity: line.quantity,
      toQuantity: quantity,
    },
    needs: [line.shaped],
  });
  line.quantity = quantity;
  line.peak = Math.max(line.peak, quantity);
}

function removable(draft: OrderDraft): DraftLine[] {
  if (draft.cancelled) return [];
  return draft.lines.filter(
    (line) => line.shipped === 0 && activeOf(line) > 0 && activeOf(line) < draft.active,
  );
}

function removeLine(draft: OrderDraft): void {
  const line = draft.random.pick(removable(draft));
  line.shaped = draft.tell({
    source: "/service-desk",
    type: "line.removed",
    data: { changeId: draft.name("edit"), lineId: line.lineId, fromQuantity: line.quantity },
    needs: [line.shaped],
  });
  line.quantity = line.cancelled;
}

function requestOrderCancel(draft: OrderDraft): void {
  const id = draft.name("cancel");
  const item = draft.tell({
    source: draft.random.pick(["/shop", "/service-desk"]),
    type: "cancel.requested",
    data: {
      cancelId: id,
      scope: "order",
      reason: draft.random.pick(["changed_mind", "too_late", "ordered_twice"]),
    },
    needs: [draft.placement],
  });
  remember(draft.requests, { id, scope: "order", items: [], item });
}

function cancellable(draft: OrderDraft): DraftLine[] {
  if (draft.cancelled) return [];
  return draft.lines.filter((line) => activeOf(line) > line.shipped);
}

function requestLineCancel(draft: OrderDraft): void {
  const { random } = draft;
  const line = random.pick(cancellable(draft));
  const quantity = random.whole(1, activeOf(line) - line.shipped);
  const id = draft.name("cancel");
  const item = draft.tell({
    source: random.pick(["/shop", "/service-desk"]),
    type: "cancel.requested",
    data: {
      cancelId: id,
      scope: "lines",
      items: [{ lineId: line.lineId, quantity }],
      reason: "changed_mind",
    },
    needs: [line.shaped],
  });
  remember(draft.requests, { id, scope: "lines", items: [{ line, quantity }], item });
}

/** Whether the desk would grant the request as the order stands. A lasting order is never given up whole. */
function grantable(draft: OrderDraft, request: DraftRequest): boolean {
  if (draft.cancelled) return false;
  if (request.scope === "order") return !draft.lasting && draft.shipped === 0;
  const total = request.items.reduce((sum, { quantity }) => sum + quantity, 0);
  return (
    total < draft.active &&
    request.items.every(({ line, quantity }) => quantity <= activeOf(line) - line.shipped)
  );
}

function confirmWeight(draft: OrderDraft): number {
  if (draft.requests.some((request) => grantable(draft, request))) return 4;
  return draft.requests.length > 0 && !draft.lasting ? 0.3 : 0;
}

function confirmCancel(draft: OrderDraft): void {
  const grants = draft.requests.filter((request) => grantable(draft, request));
  const request = draft.random.pick(grants.length > 0 ? grants : draft.requests);
  draft.tell({
    source: "/service-desk",
    type: "cancel.confirmed",
    data: { cancelId: request.id },
    needs: [request.item],
  });
  if (!grants.includes(request)) return;
  strike(draft.requests, request);
  remember(draft.closedRequests, { request, answer: "confirmed" }, 4);
  if (request.scope === "lines") {
    for (const { line, quantity } of request.items) line.cancelled += quantity;
    return;
  }
  draft.cancelled = true;
  for (const line of draft.lines) line.cancelled = line.quantity;
}

function rejectCancel(draft: OrderDraft): void {
  const request = draft.random.pick(draft.requests);
  draft.tell({
    source: "/service-desk",
    type: "cancel.rejected",
    data: { cancelId: request.id, ...(draft.random.chance(0.5) ? { comment: "already packed" } : {}) },
    needs: [request.item],
  });
  strike(draft.requests, request);
  remember(draft.closedRequests, { request, answer: "rejected" }, 4);
}
