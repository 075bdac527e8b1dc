import type { FleetLogger } from "./ports.ts";

export interface OutageOptions {
  readonly service: "Postgres" | "Redis";
  /** Resolves when the service answers. */
  readonly probe: () => Promise<void>;
  /** Longest wait for one probe, milliseconds. */
  readonly probeLimitMs: number;
  /** Longest pause between two probes, milliseconds; it starts at a tenth of that. */
  readonly pauseMs: number;
  readonly logger: FleetLogger;
  readonly random: () => number;
  readonly onDown?: () => void;
  readonly onUp?: () => void;
}

/**
 * Knows whether one service is away as a whole. A failure somewhere only makes it ask the service itself; when that does
 * not answer, an outage begins: one line in the log, one more when it is over, however many failures lie between.
 */
export class Outage {
  readonly #options: OutageOptions;
  #state: "up" | "asking" | "down" = "up";
  #asking = Promise.resolve(false);
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #stopped = false;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  get down(): boolean {
    return this.#state === "down";
  }

  /** Something failed that may mean the service is away. The answer says whether it is. */
  suspect(error: Error): Promise<boolean> {
    if (this.#state === "up" && !this.#stopped) {
      this.#state = "asking";
      this.#asking = this.#ask(error);
    }
    return this.#asking;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#wake?.();
  }

  async #ask(error: Error): Promise<boolean> {
    if (await this.#answers()) {
      this.#state = "up";
      return false;
    }
    const { service, logger, onDown } = this.#options;
    this.#state = "down";
    logger.error({ service, error }, `${service} is away; waiting for it`);
    onDown?.();
    void this.#untilBack();
    return true;
  }

  async #untilBack(): Promise<void> {
    const { service, logger, pauseMs, random } = this.#options;
    const downSinceMs = performance.now();
    for (let nextMs = pauseMs / 10; !this.#stopped; nextMs = Math.min(pauseMs, nextMs * 2)) {
      await this.#pause(nextMs * (0.5 + random() / 2));
      if (!this.#stopped && (await this.#answers())) break;
    }
    this.#state = "up";
    if (this.#stopped) return;
    logger.info({ service, awayMs: Math.round(performance.now() - downSinceMs) }, `${service} is back`);
    this.#options.onUp?.();
  }

  async #answers(): Promise<boolean> {
    const { probe, probeLimitMs } = this.#options;
    return answersWithin(probe, probeLimitMs);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#timer = setTimeout(resolve, ms);
    });
  }
}

/** Whether a probe succeeds in time. A probe that hangs counts as no answer, and its later end is nobody's business. */
export async function answersWithin(probe: () => Promise<void>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  const answer = probe().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
