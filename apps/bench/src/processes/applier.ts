import { createOrderStore, type OrderStore } from "@junban/order-store";
import type { Ground } from "../contenders/contender.ts";
import type { EventJob } from "../contenders/event-job.ts";
import { groundOf } from "./ground.ts";
import { seamsOf, type Seams } from "./seams.ts";

/** Thrown where the store settled nothing and named no trouble, which it never should. */
class NothingSettledError extends Error {
  readonly code = "NOTHING_SETTLED";
  readonly lcid: string;
  constructor({ lcid }: { lcid: string }) {
    super(`the store settled nothing of ${lcid}`);
    this.name = "NothingSettledError";
    this.lcid = lcid;
  }
}

/** A whole number of the environment, or undefined where the contender's own default is to stand. */
export function numberOf(name: string): number | undefined {
  const value = process.env[name];
  if (value === undefined || value === "") return undefined;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new TypeError(`${name} must be a whole number`);
  return number;
}

/** Options without those that were not given, so that a library's defaults stand. */
export function given<Options extends object>(options: Options): Given<Options> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Given<Options>;
}

type Given<Options> = { [Name in keyof Options]?: Exclude<Options[Name], undefined> };

/**
 * What every peer's process has in common, so that they differ in nothing but how a job gets to the store and who keeps
 * others away from its order: one event, one call of the same store.
 */
export class Applier {
  readonly ground: Ground = groundOf(process.env);
  readonly #store: OrderStore = createOrderStore({
    databaseUrl: this.ground.databaseUrl,
    poolSize: this.ground.poolSize,
    worker: `bench-${process.pid}`,
  });
  readonly #seams: Seams | null = seamsOf(process.env, this.ground);

  /** Ends once the event has a row; throws on any trouble, for the contender's own retry. */
  async applyOne({ lcid, key, body, publishedAtMs }: EventJob): Promise<void> {
    if (this.#seams !== null) await this.#seams.before({ lcid, key, body, publishedAtMs });
    const [result] = await this.#store.apply([{ lcid, requests: [{ key, body, publishedAtMs }] }]);
    if (result?.settled.length === 1) return;
    throw result?.trouble?.error ?? new NothingSettledError({ lcid });
  }

  async close(): Promise<void> {
    await Promise.all([this.#store.close(), this.#seams?.close()]);
  }
}

/**
 * The life of a peer's process: it starts taking jobs and says so; on SIGTERM it stops taking them, lets those in hand end, and
 * exits. `takeJobs` answers how to stop.
 */
export async function servePeer(
  takeJobs: (applier: Applier) => Promise<() => Promise<unknown>>,
): Promise<void> {
  const applier = new Applier();
  const stopTaking = await takeJobs(applier);
  process.stdout.write("started\n");
  process.once("SIGTERM", () => {
    void stopTaking()
      .then(async () => applier.close())
      .finally(() => process.exit());
  });
}
