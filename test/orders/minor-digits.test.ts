import { minorDigitsOf } from "@junban/orders";
import { expect, test } from "vitest";

test("an amount has as many digits behind its point as ISO 4217 gives its currency", () => {
  const digits = ["EUR", "USD", "JPY", "KRW", "KWD", "TND", "CLF", "HUF", "MGA"].map((code) => [
    code,
    minorDigitsOf(code),
  ]);
  expect(Object.fromEntries(digits)).toEqual({
    EUR: 2,
    USD: 2,
    JPY: 0,
    KRW: 0,
    KWD: 3,
    TND: 3,
    CLF: 4,
    HUF: 2,
    MGA: 2,
  });
});
