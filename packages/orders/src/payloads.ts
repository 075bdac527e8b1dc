import { z } from "zod";
import { isCurrency } from "./currencies.ts";
import type { OrderEvent, OrderEventType } from "./event.ts";
import { hasLength, isReference, REFERENCE_RULE } from "./text-rules.ts";

export const MAX_AMOUNT_MINOR = 1_000_000_000_000;
const MAX_UNIT_AMOUNT_MINOR = 1_000_000_000;
const MAX_QUANTITY = 9_999;
export const MAX_LINES = 200;

const MAX_SKU_CHARACTERS = 64;
/** Free text for people: reasons and codes of other systems. The bound only keeps it from being a document. */
const MAX_REMARK_CHARACTERS = 1_000;

// Every leaf carries one sentence for all its failures. The library's own messages could name what was received.
function wholeNumber(bounds: { least: number; most: number }) {
  const rule = `a whole number from ${bounds.least} to ${bounds.most}`;
  // Minus zero is a spelling of zero that only some comparisons tell apart.
  return z
    .int(rule)
    .min(bounds.least, rule)
    .max(bounds.most, rule)
    .overwrite((value) => value + 0);
}

function text(mostCharacters: number) {
  const rule = `a string of 1 to ${mostCharacters} characters`;
  return z.string(rule).refine((value) => hasLength(value, { least: 1, most: mostCharacters }), rule);
}

function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, `one of: ${values.join(", ")}`);
}

const reference = z.string(REFERENCE_RULE).refine(isReference, REFERENCE_RULE);
const remark = text(MAX_REMARK_CHARACTERS);
const amount = wholeNumber({ least: 1, most: MAX_AMOUNT_MINOR });
const quantity = wholeNumber({ least: 1, most: MAX_QUANTITY });
const fromQuantity = wholeNumber({ least: 0, most: MAX_QUANTITY });
const currency = z
  .string("an ISO 4217 currency code")
  .refine(isCurrency, "an ISO 4217 currency code in capitals");

const placedLine = z.object(
  {
    lineId: reference,
    sku: text(MAX_SKU_CHARACTERS),
    quantity,
    unitAmount: wholeNumber({ least: 0, most: MAX_UNIT_AMOUNT_MINOR }),
  },
  "an object",
);
const lineQuantity = z.object({ lineId: reference, quantity }, "an object");

/** How many entries a list needs; one that may be empty says so by the rules around it. */
function listOfLines<Item extends z.ZodType<{ readonly lineId: string }>>(item: Item, least: 0 | 1) {
  const rule = `a list of ${least} to ${MAX_LINES}`;
  return z
    .array(item, rule)
    .min(least, rule)
    .max(MAX_LINES, rule)
    .superRefine((items, context) => {
      const index = repeatedLineAt(items);
      if (index === -1) return;
      context.addIssue({
        code: "custom",
        path: [index, "lineId"],
        message: "a lineId not repeated in this list",
      });
    });
}

function repeatedLineAt(items: readonly { readonly lineId: string }[]): number {
  if (items.length === 1) return -1;
  const seen = new Set<string>();
  return items.findIndex(({ lineId }) => {
    if (seen.has(lineId)) return true;
    seen.add(lineId);
    return false;
  });
}

const orderPlaced = payload({
  currency,
  adjustment: wholeNumber({ least: -MAX_AMOUNT_MINOR, most: MAX_AMOUNT_MINOR }),
  shipGate: oneOf(["captured", "authorized"]),
  lines: listOfLines(placedLine, 1),
}).refine(({ adjustment, lines }) => {
  const articlesMinor = lines.reduce((sum, line) => sum + line.quantity * line.unitAmount, 0);
  return articlesMinor + adjustment >= 0;
}, "lines and adjustment that add up to no less than 0");

const cancelRequested = payload({
  cancelId: reference,
  scope: oneOf(["order", "lines"]),
  items: listOfLines(lineQuantity, 0)
    .nullish()
    .transform((items) => items ?? []),
  reason: remark,
}).superRefine(({ scope, items }, context) => {
  if ((scope === "lines") === items.length > 0) return;
  const message =
    scope === "lines" ? `a list of 1 to ${MAX_LINES} with scope lines` : "nothing with scope order";
  context.addIssue({ code: "custom", path: ["items"], message });
});

function payload<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.object(shape, "an object");
}

const cancelAnswer = payload({ cancelId: reference });

type PayloadSchemas = {
  readonly [Type in OrderEventType]: z.ZodType<Extract<OrderEvent, { type: Type }>["data"]>;
};

/** The known fields of each type's data at schema version 1, and their bounds. Unknown fields are left out of the result. */
export const PAYLOADS: PayloadSchemas = {
  "order.placed": orderPlaced,
  "line.added": placedLine,
  "line.quantity_changed": payload({
    changeId: reference,
    lineId: reference,
    fromQuantity,
    toQuantity: quantity,
  }),
  "line.removed": payload({ changeId: reference, lineId: reference, fromQuantity }),
  "payment.authorized": payload({ authorizationId: reference, amount, currency }),
  // Null says "a sale" on purpose; a field that is merely missing does not say it.
  "payment.captured": payload({
    captureId: reference,
    authorizationId: reference.nullable(),
    amount,
    currency,
  }),
  "payment.voided": payload({
    voidId: reference,
    authorizationId: reference,
    amount,
    reason: oneOf(["voided", "expired"]),
  }),
  "payment.refunded": payload({ refundId: reference, captureId: reference, amount, currency }),
  "payment.failed": payload({
    stage: oneOf(["authorization", "capture", "refund"]),
    ref: reference,
    code: remark,
  }),
  "inventory.reserved": payload({
    reservationId: reference,
    lineId: reference,
    quantity,
    shortageId: reference.nullish().transform((shortageId) => shortageId ?? null),
  }),
  "inventory.short": payload({ shortageId: reference, lineId: reference, quantity }),
  "inventory.released": payload({ releaseId: reference, reservationId: reference, quantity, reason: remark }),
  "inventory.shipped": payload({ shipmentId: reference, items: listOfLines(lineQuantity, 1) }),
  "cancel.requested": cancelRequested,
  "cancel.confirmed": cancelAnswer,
  "cancel.rejected": cancelAnswer,
};

export function isKnownType(type: string): type is OrderEventType {
  return Object.hasOwn(PAYLOADS, type);
}
