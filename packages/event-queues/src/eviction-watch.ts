import { EvictingRedisError } from "./errors.ts";

export interface EvictionWatchOptions {
  /** Rejects with an EvictingRedisError when Redis may evict keys. */
  readonly check: () => Promise<void>;
  /** A pino logger fits. */
  readonly logger: {
    info(fields: object, line: string): void;
    error(fields: object, line: string): void;
  };
  /** Default 5000: cheap, and soon enough for somebody who has just changed the policy to hear of it. */
  readonly everyMs?: number;
}

/**
 * Watches the memory policy of Redis, which was fit when this process started and may be changed at any time after. Each
 * change is worth one line. Whatever the policy is, the process works on: stopping would save no key.
 */
export class EvictionWatch {
  readonly #options: EvictionWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #policy: string | null = null;
  #isAsking = false;

  constructor(options: EvictionWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), options.everyMs ?? 5_000).unref();
  }

  /** Whether the policy may drop locks, lines and jobs, as far as is known. */
  get mayEvict(): boolean {
    return this.#policy !== null;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A Redis that is away is asked once and answers when it is back. */
  async #look(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      await this.#options.check();
      if (this.#policy !== null) this.#options.logger.info({}, "Redis does not evict keys any more");
      this.#policy = null;
    } catch (error) {
      // That Redis does not answer, or does not tell, says nothing about its policy, and others report it.
      if (!(error instanceof EvictingRedisError)) return;
      const { policy, message } = error;
      if (policy !== this.#policy) this.#options.logger.error({ policy }, message);
      this.#policy = policy;
    } finally {
      this.#isAsking = false;
    }
  }
}
