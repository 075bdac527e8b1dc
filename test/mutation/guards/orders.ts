import type { Guard } from "./guard.ts";

/**
 * A handful of the domain's guards. Each rule of each transition has tests of its own under test/orders; these are the rules
 * on which money, goods and the inbox rest.
 *
 * Left out, since nothing depends on it today: the type in what a business key stands for. Types that share a kind of key
 * differ in their data.
 */

const SRC = "packages/orders/src";
const PAYMENT = "test/orders/transitions-payment.test.ts";
const REFUND = "test/orders/transitions-refund.test.ts";
const INVENTORY = "test/orders/transitions-inventory.test.ts";
const LINE = "test/orders/transitions-line.test.ts";
const GATE = "test/orders/transitions-ship-gate.test.ts";
const CANCEL = "test/orders/transitions-cancel.test.ts";
const STRUCTURE = "test/orders/structure.test.ts";
const REQUEST = "test/orders/request.test.ts";
const PAYLOADS = "test/orders/payloads.test.ts";
const FIELD = "test/orders/field-cases.test.ts";
const HELD = "test/orders/held.test.ts";

export const ORDERS_GUARDS: readonly Guard[] = [
  {
    promise: "what was done under a business key is not done again under another id",
    file: `${SRC}/decide.ts`,
    guard: "if (repeat !== null) return repeat;",
    without: "",
    tests: [{ file: FIELD, title: "5: checkout and webhook report one capture under two ids" }],
  },
  {
    promise: "other data under a known business key is a conflict",
    file: `${SRC}/decide.ts`,
    guard: "return ref.dataDigest === dataDigestOf(event) ?",
    without: "return ref.dataDigest !== null ?",
    tests: [{ file: PAYMENT }],
  },
  {
    promise: "nothing but a placement is applied to an order that was not placed",
    file: `${SRC}/decide.ts`,
    guard: 'if (!view.totals.placed && event.type !== "order.placed") return deferred("ORDER_NOT_FOUND");',
    without: "",
    tests: [{ file: FIELD, title: "10: an authorization that arrives before its order" }],
  },
  {
    promise: "money of another currency is refused",
    file: `${SRC}/decide.ts`,
    guard: 'if (isOtherCurrency(view.totals, event)) return rejected("CURRENCY_MISMATCH");',
    without: "",
    tests: [{ file: PAYMENT }],
  },
  {
    promise: "no more is captured than an authorization has left",
    file: `${SRC}/decide-payment.ts`,
    guard: "if (amount > open) {",
    without: "if (amount < 0) {",
    tests: [{ file: FIELD, title: "1: two captures that each fit a stale total" }],
  },
  {
    promise: "no more is refunded than was captured",
    file: `${SRC}/decide-payment.ts`,
    guard: 'if (amount > capture.amount - capture.used) return rejected("OVER_REFUND");',
    without: "",
    tests: [{ file: FIELD, title: "2: of two refunds of 60 on a capture of 100" }],
  },
  {
    promise: "no more is voided than an authorization has left",
    file: `${SRC}/decide-payment.ts`,
    guard: 'if (amount > openOf(authorization)) return rejected("VOID_EXCEEDS_OPEN");',
    without: "",
    tests: [{ file: PAYMENT, title: "payment.voided" }],
  },
  {
    promise: "nothing is refunded of a capture that failed after all",
    file: `${SRC}/decide-payment.ts`,
    guard: 'if (capture.reversed) return rejected("CAPTURE_REVERSED");',
    without: "",
    tests: [{ file: REFUND, title: "payment.refunded" }],
  },
  {
    promise: "a failure that came first undoes its capture at once",
    file: `${SRC}/decide-payment.ts`,
    guard: "if (reversed) return applied(view, { refs: [capture] });",
    without: "",
    tests: [{ file: PAYMENT, title: "payment.captured" }],
  },
  {
    promise: "sums stay exact integers",
    file: `${SRC}/decide-payment.ts`,
    guard: "return Number.isSafeInteger(authorizedMinor) ? authorizedMinor : null;",
    without: "return authorizedMinor;",
    tests: [{ file: PAYMENT, title: "payment.authorized" }],
  },
  {
    promise: "an order's total stays in range",
    file: `${SRC}/order-bounds.ts`,
    guard: "totalMinor >= 0 && totalMinor <= MAX_AMOUNT_MINOR",
    without: "totalMinor >= 0",
    tests: [{ file: LINE }],
  },
  {
    promise: "no more is released than was reserved",
    file: `${SRC}/decide-inventory.ts`,
    guard: 'if (quantity > reservation.amount - reservation.used) return rejected("OVER_RELEASE");',
    without: "",
    tests: [{ file: INVENTORY, title: "inventory.released" }],
  },
  {
    promise: "nothing is shipped that was not reserved",
    file: `${SRC}/decide-inventory.ts`,
    guard: 'if (after > heldOf(line)) return deferred("NOT_RESERVED");',
    without: "",
    tests: [{ file: INVENTORY, title: "inventory.shipped" }],
  },
  {
    promise: "a cancelled order ships nothing",
    file: `${SRC}/decide-inventory.ts`,
    guard: '  if (view.totals.cancelled) return rejected("ORDER_CANCELLED");\n  const { shipmentId',
    without: "  const { shipmentId",
    tests: [{ file: INVENTORY, title: "inventory.shipped" }],
  },
  {
    promise: "goods leave only when their money is there",
    file: `${SRC}/decide-inventory.ts`,
    guard: 'if (!isGateOpen(view, items)) return deferred("PAYMENT_NOT_CONFIRMED");',
    without: "",
    tests: [{ file: GATE }],
  },
  {
    promise: "goods do not leave after the money was given back",
    file: `${SRC}/decide-inventory.ts`,
    guard: "if (capturedMinor > 0 && refundedMinor === capturedMinor) return false;",
    without: "",
    tests: [{ file: FIELD, title: "21: goods do not leave after the money was given back" }],
  },
  {
    promise: "a line is changed only from what it was thought to be",
    file: `${SRC}/decide-line.ts`,
    guard: 'if (event.data.fromQuantity !== line.quantity) return deferred("LINE_PRECONDITION");',
    without: "",
    tests: [{ file: LINE, title: "line.quantity_changed" }],
  },
  {
    promise: "a quantity is not lowered below what was shipped",
    file: `${SRC}/decide-line.ts`,
    guard: "if (quantity < line.cancelled + line.shipped) {",
    without: "if (quantity < 0) {",
    tests: [{ file: FIELD, title: "15: a quantity is not lowered below what was shipped" }],
  },
  {
    promise: "what was shipped is not cancelled",
    file: `${SRC}/decide-cancel.ts`,
    guard: 'if (line.shipped > 0) return rejected("ALREADY_SHIPPED");',
    without: "",
    tests: [{ file: CANCEL, title: "cancel.confirmed for the whole order" }],
  },
  {
    promise: "a cancel is answered once",
    file: `${SRC}/decide-cancel.ts`,
    guard: 'if (!request.open) return rejected("CANCEL_CLOSED");',
    times: 2,
    without: "",
    tests: [{ file: CANCEL }],
  },
  {
    promise: "a change applies to the state on which it was decided",
    file: `${SRC}/state.ts`,
    guard: "change.totals.version,\n      this.#totals.version + 1,",
    without: "change.totals.version,\n      change.totals.version,",
    tests: [
      {
        file: "test/orders/order-state.test.ts",
        title: "refuses a change that was decided on another state",
      },
    ],
  },
  {
    promise: "held events are looked at from the first one again after each that was applied",
    file: `${SRC}/held.ts`,
    guard: 'if (attempt.kind === "applied") index = 0;',
    without: "",
    tests: [{ file: HELD, title: "are decided earliest first, again after each one that was applied" }],
  },
  {
    promise: "a held event that makes the decision throw stops its order where poison halts it",
    file: `${SRC}/held.ts`,
    guard: 'if (attempt.kind === "failed" && options.stopOnFailure) break;',
    without: "",
    tests: [{ file: HELD, title: "stop the order where poison halts it" }],
  },
  {
    promise: "NUL and half pairs are refused before a database meets them",
    file: `${SRC}/text-rules.ts`,
    guard: 'return !text.includes("\\0") && !hasLoneSurrogate(text);',
    without: "return true;",
    tests: [{ file: STRUCTURE, title: "text that a database cannot keep is invalid" }],
  },
  {
    promise: "keys that reach for prototypes are refused",
    file: `${SRC}/structure.ts`,
    guard: "return reachesPrototypes(key, member) ? found(KEY_RULE) : null;",
    without: "return null;",
    tests: [{ file: "test/order-store/content.test.ts", title: "__proto__ as a key: rejected" }],
  },
  {
    promise: "integers beyond 2^53 are refused, never rounded",
    file: `${SRC}/structure.ts`,
    guard:
      "if (this.#isStrict && Number.isInteger(value) && !Number.isSafeInteger(value)) return found(SAFE_RULE);",
    without: "",
    tests: [{ file: STRUCTURE, title: "numbers that would not be the same on the other side" }],
  },
  {
    promise: "numbers without an end are refused",
    file: `${SRC}/structure.ts`,
    guard: "if (!Number.isFinite(value)) return found(FINITE_RULE);",
    without: "",
    tests: [{ file: STRUCTURE, title: "numbers that would not be the same on the other side" }],
  },
  {
    promise: "nesting is bounded",
    file: `${SRC}/structure.ts`,
    guard: "if (level > MAX_LEVELS) return found(LEVELS_RULE);",
    without: "",
    tests: [{ file: STRUCTURE, title: "nesting" }],
  },
  {
    promise: "an event is bounded in bytes",
    file: `${SRC}/interpret.ts`,
    guard: 'return isTooLarge ? { field: "event", rule: SIZE_RULE } : null;',
    without: "return isTooLarge ? null : null;",
    tests: [{ file: STRUCTURE, title: "size" }],
  },
  {
    promise: "amounts are whole minor units",
    file: `${SRC}/payloads.ts`,
    guard: "    .int(rule)\n    .min(bounds.least, rule)",
    without: "    .number(rule)\n    .min(bounds.least, rule)",
    tests: [{ file: PAYLOADS, title: "money" }],
  },
  {
    promise: "only known currencies pass",
    file: `${SRC}/payloads.ts`,
    guard: '  .refine(isCurrency, "an ISO 4217 currency code in capitals")',
    without: "",
    tests: [{ file: PAYLOADS, title: "may not be in" }],
  },
  {
    promise: "a list names each line once",
    file: `${SRC}/payloads.ts`,
    guard: "if (index === -1) return;",
    without: "if (index >= -1) return;",
    tests: [{ file: PAYLOADS, title: "names each line once" }],
  },
  {
    promise: "names that every object has are no event types",
    file: `${SRC}/payloads.ts`,
    guard: "return Object.hasOwn(PAYLOADS, type);",
    without: "return type in PAYLOADS;",
    tests: [{ file: PAYLOADS, title: "what a newer build will know" }],
  },
  {
    promise: "events of two sources under one id have keys of their own",
    file: `${SRC}/request.ts`,
    guard: `digestOf(\`\${source}\\0\${id}\\0\${contentOf(written)}\`)`,
    without: `digestOf(\`\${id}\\0\${contentOf(written)}\`)`,
    tests: [{ file: REQUEST, title: "is another for another source" }],
  },
  {
    promise: "source and id are kept apart in a key",
    file: `${SRC}/request.ts`,
    guard: `digestOf(\`\${source}\\0\${id}\\0\${contentOf(written)}\`)`,
    without: `digestOf(\`\${source}\${id}\\0\${contentOf(written)}\`)`,
    tests: [{ file: REQUEST, title: "keeps source and id apart" }],
  },
  {
    promise: "a key does not depend on the order of an object's members",
    file: `${SRC}/digest.ts`,
    guard: "Object.keys(record).toSorted()",
    without: "Object.keys(record)",
    tests: [{ file: REQUEST, title: "ignores the order of keys" }],
  },
  {
    promise: "a broken rule is told without the value that broke it",
    file: `${SRC}/payloads.ts`,
    guard: "return z.enum(values, `one of: ",
    without: "return z.enum(values, { error: ({ input }) => String(input) }) ?? z.enum(values, `one of: ",
    tests: [{ file: PAYLOADS, title: "a broken rule is told without the value that broke it" }],
  },
];
