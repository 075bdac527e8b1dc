/** `wrong`: a promise is broken or an order stands still until somebody acts. `warning`: it works, and may not for long. */
export type Severity = "wrong" | "warning";

/** What the doctor has to say about one thing. */
export interface Finding {
  /** For scripts; never reworded. */
  readonly code: string;
  readonly severity: Severity;
  readonly about: "redis" | "postgres" | "clocks" | "fleet";
  /** What was seen. */
  readonly says: string;
  /** What follows from it. */
  readonly means: string;
  /** What to do about it. */
  readonly fix: string;
}

const number = new Intl.NumberFormat("en-US");

/** `1 order`, `2 orders`, `1,204 events`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number.format(count)} ${count === 1 ? one : many}`;
}

/** Roughly, in the largest unit that fits: `850 ms`, `12 s`, `3 min`, `5 h`, `9 days`. */
export function lasting(durationMs: number): string {
  const units = [
    ["days", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1_000],
  ] as const;
  const [unit, lengthMs] = units.find(([, length]) => durationMs >= 2 * length) ?? ["ms", 1];
  return `${number.format(Math.round(durationMs / lengthMs))} ${unit}`;
}

/** `512 bytes`, `3.1 MB`, `2.0 GB`. */
export function sized(bytes: number): string {
  if (bytes >= 1_073_741_824) return `${(bytes / 1_073_741_824).toFixed(1)} GB`;
  if (bytes >= 1_048_576) return `${(bytes / 1_048_576).toFixed(1)} MB`;
  return counted(bytes, "byte");
}
