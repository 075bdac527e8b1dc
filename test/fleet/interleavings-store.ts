import type { LaneBatch, LaneResult, Settled } from "@junban/order-store";
import type { FleetWorkerOptions } from "../../apps/worker/src/index.ts";
import { never } from "./interleavings-lanes.ts";
import type { Misfortunes, Steps } from "./interleavings-steps.ts";

type StorePort = FleetWorkerOptions["store"];
type Apply = StorePort["apply"];

/**
 * `half`: half of the batch is committed, and then there is trouble; `nothing`: nothing is; `unheard`: all of it is, and the
 * reply to COMMIT is lost; `late`: the lease would be over before COMMIT; `unforeseen`: nobody knows what it was.
 */
export type StoreMisfortune = "half" | "nothing" | "unheard" | "late" | "unforeseen";

/** Postgres: the rows in the order of first decisions, and which lanes are in a transaction right now. */
export class ModelStore {
  readonly #steps: Steps;
  readonly #misfortunes: Misfortunes<StoreMisfortune>;
  readonly #inTransaction = new Map<string, number>();
  /** Keys by lcid, in the order in which they were first decided. */
  readonly rows = new Map<string, string[]>();
  /** Heads that were given up undecided, because their holders kept vanishing. */
  readonly givenUp: string[] = [];
  /** Most transactions one lane was in at once. */
  mostAtOnce = 0;
  largestGroup = 0;
  /** Times a head was given up beside anything else that its process had in hand. */
  crowdedGivingUp = 0;

  constructor(options: { steps: Steps; misfortunes: Misfortunes<StoreMisfortune> }) {
    this.#steps = options.steps;
    this.#misfortunes = options.misfortunes;
  }

  isSettled(lcid: string, key: string): boolean {
    return this.rows.get(lcid)?.includes(key) ?? false;
  }

  /** The store as one process sees it, for as long as that process lives. */
  of(process: { readonly dead: boolean }): Apply {
    let groups = 0;
    return async (batches) => {
      groups += 1;
      const isCrowded = groups > 1 || batches.length > 1;
      if (isCrowded && batches.some(({ giveUpHead }) => giveUpHead === true)) this.crowdedGivingUp += 1;
      const results = await this.#apply(batches, process);
      groups -= 1;
      return results;
    };
  }

  async #apply(
    batches: readonly LaneBatch[],
    process: { readonly dead: boolean },
  ): Promise<readonly LaneResult[]> {
    const lcids = batches.map(({ lcid }) => lcid);
    this.largestGroup = Math.max(this.largestGroup, batches.length);
    for (const lcid of lcids) this.#count(lcid, 1);
    await this.#steps.take("begin", lcids.join("+"));
    if (process.dead) return never();
    const results = batches.map((batch) => this.#commit(batch));
    await this.#steps.take("committed", lcids.join("+"));
    if (process.dead) return never();
    for (const lcid of lcids) this.#count(lcid, -1);
    return results;
  }

  #commit({ lcid, requests, giveUpHead }: LaneBatch): LaneResult {
    const misfortune = this.#misfortunes.next();
    const committed = requests.slice(0, committedOf(requests.length, misfortune));
    const settled = committed.map(({ key }, index) =>
      this.#decide(lcid, key, giveUpHead === true && index === 0),
    );
    return {
      lcid,
      settled: misfortune === "unheard" ? [] : settled,
      trouble: troubleOf(misfortune),
      released: 0,
    };
  }

  #decide(lcid: string, key: string, isGivenUp: boolean): Settled {
    const rows = this.rows.get(lcid) ?? [];
    this.rows.set(lcid, rows);
    const repeat = rows.includes(key);
    if (!repeat) rows.push(key);
    if (!repeat && isGivenUp) this.givenUp.push(key);
    const isFailed = this.givenUp.includes(key);
    return {
      key,
      source: "/s",
      id: key,
      type: "line.added",
      outcome: isFailed ? "failed" : "applied",
      reason: isFailed ? "CRASH_LOOP" : null,
      version: isFailed ? null : rows.indexOf(key) + 1,
      repeat,
    };
  }

  #count(lcid: string, by: number): void {
    const now = (this.#inTransaction.get(lcid) ?? 0) + by;
    this.#inTransaction.set(lcid, now);
    this.mostAtOnce = Math.max(this.mostAtOnce, now);
  }
}

function committedOf(requests: number, misfortune: StoreMisfortune | "none"): number {
  if (misfortune === "none" || misfortune === "unheard") return requests;
  return misfortune === "half" ? Math.floor(requests / 2) : 0;
}

function troubleOf(misfortune: StoreMisfortune | "none"): LaneResult["trouble"] {
  const error = new Error(misfortune);
  switch (misfortune) {
    case "none":
      return null;
    case "late":
      return { kind: "deadline", error };
    case "unforeseen":
      return { kind: "unknown", error };
    default:
      return { kind: "passing", error };
  }
}

/** The store as the fleet's port. */
export function storePort(apply: Apply): StorePort {
  return {
    apply,
    ping: () => Promise.resolve(),
    poolInUse: () => 0,
    dueHeld: () => neverAsked(),
    expireHeld: () => neverAsked(),
    unsupported: () => neverAsked(),
    redecideUnsupported: () => neverAsked(),
    stuckHalted: () => neverAsked(),
    releaseHalted: () => neverAsked(),
    gauges: () => neverAsked(),
  };
}

function neverAsked(): never {
  throw new Error("no sweeper runs in the model");
}
