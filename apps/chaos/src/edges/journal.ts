import { setTimeout as pause } from "node:timers/promises";
import { consumeOrderUpdates, type OrderUpdatesConsumer } from "@junban/order-updates";

const LEASE_MS = 2_000;
const LOOK_EVERY_MS = 20;

/** A subscriber that notes every version it is shown, in the order in which it is shown them. */
export class Journal {
  readonly #versions = new Map<string, number[]>();
  readonly #troubles: string[] = [];
  #consumer: OrderUpdatesConsumer | null = null;
  #noted = 0;

  /** How many versions were noted. */
  get noted(): number {
    return this.#noted;
  }

  async open({ redisUrl, prefix }: { readonly redisUrl: string; readonly prefix: string }): Promise<void> {
    this.#consumer = await consumeOrderUpdates(
      {
        redis: redisUrl,
        prefix,
        name: "chaos",
        concurrency: 32,
        leaseMs: LEASE_MS,
        gapWaitMs: Number.POSITIVE_INFINITY,
        onError: (error) => this.#troubles.push(`the subscriber was told: ${error.message}`),
      },
      async ({ lcid, version }) => {
        const versions = this.#versions.get(lcid) ?? [];
        versions.push(version);
        this.#versions.set(lcid, versions);
        this.#noted += 1;
      },
    );
  }

  /** Resolves when another version has been noted; false when none was in time. */
  async another({ withinMs, signal }: { withinMs: number; signal: AbortSignal }): Promise<boolean> {
    return this.#until((before) => this.#noted > before, { withinMs, signal });
  }

  /** Resolves when so many versions have been noted; false when they were not in time. */
  async all(
    count: number,
    { withinMs, signal }: { withinMs: number; signal: AbortSignal },
  ): Promise<boolean> {
    return this.#until(() => this.#noted >= count, { withinMs, signal });
  }

  /** What is wrong with what was noted, given the version that each order has come to. */
  findings(reached: ReadonlyMap<string, number>): readonly string[] {
    const wrong = [...this.#troubles];
    for (const [lcid, version] of reached) {
      const noted = this.#versions.get(lcid) ?? [];
      const isWhole = noted.length === version && noted.every((one, index) => one === index + 1);
      if (isWhole) continue;
      wrong.push(`${lcid} is at version ${version}, and the subscriber was shown ${noted.join(" ")}`);
    }
    return wrong;
  }

  async close(): Promise<void> {
    await this.#consumer?.close({ deadlineMs: LEASE_MS });
  }

  async #until(
    isThere: (before: number) => boolean,
    { withinMs, signal }: { withinMs: number; signal: AbortSignal },
  ): Promise<boolean> {
    const before = this.#noted;
    const untilMs = performance.now() + withinMs;
    while (performance.now() < untilMs) {
      if (isThere(before)) return true;
      await pause(LOOK_EVERY_MS, undefined, { signal });
    }
    return isThere(before);
  }
}
