import type { ConsumeOrderUpdatesOptions } from "./contract.ts";
import { InvalidOptionError } from "./errors.ts";

export interface Settings {
  readonly prefix: string;
  readonly concurrency: number;
  readonly gapWaitMs: number;
  readonly retryMs: number;
  readonly leaseMs: number;
}

const NAME = /^[0-9A-Za-z_-]{1,64}$/;

/** Fills in the defaults and checks the limits. */
export function readSettings(options: ConsumeOrderUpdatesOptions): Settings {
  const {
    name,
    prefix = "junban",
    concurrency = 8,
    gapWaitMs = 5_000,
    retryMs = 1_000,
    leaseMs = 30_000,
  } = options;
  checkName(name);
  within("concurrency", concurrency, { least: 1, most: 1_000 });
  within("retryMs", retryMs, { least: 1, most: 60_000 });
  within("leaseMs", leaseMs, { least: 1_000, most: 300_000 });
  if (!(gapWaitMs >= 0)) {
    throw new InvalidOptionError({ option: "gapWaitMs", rule: "a number from 0, or Infinity" });
  }
  return { prefix, concurrency, gapWaitMs, retryMs, leaseMs };
}

/** A name becomes part of keys and of a queue's name. */
export function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new InvalidOptionError({ option: "name", rule: "1 to 64 letters, digits, - and _" });
}

function within(option: string, value: number, { least, most }: { least: number; most: number }): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new InvalidOptionError({ option, rule: `a whole number from ${least} to ${most}` });
}
