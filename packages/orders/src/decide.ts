import { CANCEL_RULES } from "./decide-cancel.ts";
import { INVENTORY_RULES } from "./decide-inventory.ts";
import { isSameLine, LINE_ITEM_RULES } from "./decide-line.ts";
import { PAYMENT_RULES } from "./decide-payment.ts";
import type { Decision, DuplicateOf } from "./decision.ts";
import type { OrderEvent, OrderEventType } from "./event.ts";
import type { OrderTotals, OrderView, RefName } from "./order.ts";
import { dataDigestOf, deferred, rejected } from "./rules.ts";
import type { EventRule, EventRules } from "./rules.ts";

const RULES: EventRules<OrderEventType> = {
  ...LINE_ITEM_RULES,
  ...PAYMENT_RULES,
  ...INVENTORY_RULES,
  ...CANCEL_RULES,
};

/**
 * Says what one event does to one order: applied with the change, a duplicate of what was applied under its business key,
 * rejected for good, or deferred until something it builds on is there. Looks at nothing but its arguments and changes
 * neither. Whether the event was seen before, whether its data is valid and whether the order is halted was asked earlier.
 */
export function decide(view: OrderView, event: OrderEvent): Decision {
  const rule = ruleFor(event);
  const repeat = judgeRepeat(view, { event, key: rule.keyOf(event) });
  if (repeat !== null) return repeat;
  if (!view.totals.placed && event.type !== "order.placed") return deferred("ORDER_NOT_FOUND");
  if (isOtherCurrency(view.totals, event)) return rejected("CURRENCY_MISMATCH");
  return rule.decide(view, event);
}

/**
 * Every reference that deciding this event may look up; the parent of each one that exists is needed too, and no more than
 * that. Lines are not among them: a view holds all lines of its order.
 */
export function referencesOf(event: OrderEvent): readonly RefName[] {
  const rule = ruleFor(event);
  const key = rule.keyOf(event);
  const others = rule.looksUp(event);
  return key.kind === "line" ? others : [key, ...others];
}

function ruleFor(event: OrderEvent): EventRule<OrderEvent> {
  // Each type stands beside its own rule in the table, so the rule found is one for this very event.
  return RULES[event.type];
}

function judgeRepeat(
  view: OrderView,
  { event, key }: { readonly event: OrderEvent; readonly key: DuplicateOf },
): Decision | null {
  if (key.kind === "line") {
    const line = view.line(key.ref);
    if (line === undefined || event.type !== "line.added") return null;
    return isSameLine(line, event.data) ? { kind: "duplicate", of: key } : rejected("REF_CONFLICT");
  }
  const ref = view.ref(key);
  if (ref === undefined) return null;
  return ref.dataDigest === dataDigestOf(event) ? { kind: "duplicate", of: key } : rejected("REF_CONFLICT");
}

function isOtherCurrency(totals: OrderTotals, event: OrderEvent): boolean {
  switch (event.type) {
    case "payment.authorized":
    case "payment.captured":
    case "payment.refunded":
      return event.data.currency !== totals.currency;
    default:
      return false;
  }
}
