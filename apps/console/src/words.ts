import { minorDigitsOf } from "@junban/orders";
import { html } from "./html.ts";
import type { Html } from "./html.ts";

/** How numbers, amounts and moments are written, everywhere the same. */

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return WHOLE.format(value);
}

/** 1200 JPY is `1,200`, 1200 EUR is `12.00`. */
export function amount(minor: number, currency: string | null): string {
  // Before it is placed an order has no currency, and nothing to be rounded by.
  const digits = currency === null ? 0 : minorDigitsOf(currency);
  const sign = minor < 0 ? "−" : "";
  const plain = String(Math.abs(minor)).padStart(digits + 1, "0");
  const whole = plain.slice(0, plain.length - digits);
  const part = digits === 0 ? "" : `.${plain.slice(-digits)}`;
  return `${sign}${whole.replaceAll(/\B(?=(\d{3})+$)/g, ",")}${part}`;
}

/** In one unit, with as many digits as people look at. */
export function duration(ms: number): string {
  const units = [
    [1, "ms"],
    [1_000, "s"],
    [60_000, "min"],
    [3_600_000, "h"],
    [86_400_000, "d"],
  ] as const;
  const [size, unit] = units.findLast(([least]) => Math.abs(ms) >= least) ?? units[0];
  const value = ms / size;
  return `${value < 10 && size > 1 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** `in 2.0 h`, `overdue by 5 min`. */
export function until(moment: Date, nowMs: number): string {
  const leftMs = moment.getTime() - nowMs;
  return leftMs >= 0 ? `in ${duration(leftMs)}` : `overdue by ${duration(-leftMs)}`;
}

/** UTC, since colleagues compare it with logs. */
export function time(moment: Date): Html {
  const iso = moment.toISOString();
  return html`<time datetime="${iso}" title="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`;
}

/** `payment_status` and `paymentStatus` as people say them. */
export function spoken(name: string): string {
  return name
    .replaceAll("_", " ")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}

/** With a capital letter and a full stop, and otherwise as it is. */
export function sentence(text: string): string {
  if (text === "") return "";
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
