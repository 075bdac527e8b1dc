import type { FleetLogger } from "./ports.ts";

/** Kinds remembered at once; the longest silent one is forgotten first. */
const MOST_KINDS = 64;

/**
 * Says a line at once, and its repetitions no more often than `everyMs` a kind: one cause can fail every job of a backlog, and the
 * thousandth line says nothing that the first did not.
 */
export class ThrottledLines {
  readonly #logger: FleetLogger;
  readonly #everyMs: number;
  readonly #kinds = new Map<string, { quietUntilMs: number; unsaid: number }>();

  constructor({ logger, everyMs }: { logger: FleetLogger; everyMs: number }) {
    this.#logger = logger;
    this.#everyMs = everyMs;
  }

  say(
    level: "warn" | "error",
    kind: string,
    entry: { readonly fields: object; readonly line: string },
  ): void {
    const nowMs = performance.now();
    const known = this.#kinds.get(kind);
    if (known !== undefined && nowMs < known.quietUntilMs) {
      known.unsaid += 1;
      return;
    }
    const unsaid = known?.unsaid ?? 0;
    this.#kinds.delete(kind);
    this.#kinds.set(kind, { quietUntilMs: nowMs + this.#everyMs, unsaid: 0 });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > MOST_KINDS && oldest !== undefined) this.#kinds.delete(oldest);
    this.#logger[level](unsaid === 0 ? entry.fields : { ...entry.fields, unsaid }, entry.line);
  }
}
