import { isSubscriberName } from "@junban/event-queues";
import type { ConsumeOrderUpdatesOptions } from "./contract.ts";
import { InvalidOptionError } from "./errors.ts";

export interface Settings {
  readonly prefix: string;
  readonly concurrency: number;
  readonly gapWaitMs: number;
  readonly retryMs: number;
  readonly leaseMs: number;
}

const PREFIX = /^[0-9A-Za-z._:-]{1,64}$/;

/** Fills in the defaults and checks the limits. */
export function readSettings(options: ConsumeOrderUpdatesOptions): Settings {
  const {
    name,
    prefix = "junban",
    concurrency = 8,
    leaseMs = 10_000,
    // What a process that died had in hands comes again after a lease, and it may be on its second way then.
    gapWaitMs = 3 * leaseMs,
    retryMs = 1_000,
  } = options;
  checkName({ name, prefix });
  within("concurrency", concurrency, { least: 1, most: 1_000 });
  within("retryMs", retryMs, { least: 1, most: 60_000 });
  within("leaseMs", leaseMs, { least: 1_000, most: 300_000 });
  if (!(gapWaitMs >= 0)) {
    throw new InvalidOptionError({ option: "gapWaitMs", rule: "a number from 0, or Infinity" });
  }
  return { prefix, concurrency, gapWaitMs, retryMs, leaseMs };
}

/** Both become part of keys, and the name of a queue's name as well. */
export function checkName({ name, prefix = "junban" }: { name: string; prefix?: string | undefined }): void {
  if (!isSubscriberName(name)) {
    throw new InvalidOptionError({ option: "name", rule: "1 to 48 letters, digits, - and _" });
  }
  if (!PREFIX.test(prefix)) {
    throw new InvalidOptionError({ option: "prefix", rule: "1 to 64 characters of 0-9 A-Z a-z . _ : -" });
  }
}

function within(option: string, value: number, { least, most }: { least: number; most: number }): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new InvalidOptionError({ option, rule: `a whole number from ${least} to ${most}` });
}
