import type { LaneBatch, LaneResult } from "@junban/order-store";
import type { Committer } from "./ports.ts";

/** A lane that has its next batch in hand and wants it committed. */
export interface ReadyLane {
  readonly lcid: string;
  readonly requests: LaneBatch["requests"];
  /** Aborts when the lane's lease is gone; a batch not yet begun is then not begun. */
  readonly signal: AbortSignal;
  /** End of the lease on the clock of `performance.now()`, asked when the transaction begins. */
  deadlineMs(): number;
  /** Present when the lane's holders keep vanishing: the batch is committed while this process does nothing else. */
  readonly suspect?: { readonly tries: number; readonly giveUpHead: boolean };
}

export interface CommitGroupsOptions {
  readonly store: Committer;
  /** Most lanes in one transaction. */
  readonly commitLanes: number;
  /** Most transactions at once. */
  readonly commitParallel: number;
  /** Most events in one transaction, so that a group of deep lanes stays below the statement limit. */
  readonly commitEvents: number;
  /** Told the size of each group as its transaction begins. */
  readonly onGroup?: (lanes: number, events: number) => void;
}

interface Waiting {
  readonly lane: ReadyLane;
  readonly answer: (result: LaneResult | null) => void;
}

/**
 * Decides which lanes share a transaction. Its duties:
 *
 * 1. Begin at once while fewer than `commitParallel` transactions are in flight: an idle process never waits for company.
 * 2. Let lanes that become ready meanwhile gather, first come first served, and share the next transaction. No timer.
 * 3. Never have two batches of one lcid in flight, even if two turns of it exist because a lease was lost.
 * 4. Commit suspects one at a time with nothing beside them, the least suspected first, so that an event that kills its
 *    process takes as few innocent lanes with it as possible.
 */
export class CommitGroups {
  readonly #options: CommitGroupsOptions;
  readonly #inFlight = new Set<string>();
  #ready: Waiting[] = [];
  #suspects: Waiting[] = [];
  #transactions = 0;
  #suspectInFlight = false;
  #suspectWentLast = false;
  #closed = false;

  constructor(options: CommitGroupsOptions) {
    this.#options = options;
  }

  /**
   * Commits one lane's batch, alone or in company. Never rejects. Null means that the batch was not begun, because the
   * lane's lease was gone or this process is stopping.
   */
  commit(lane: ReadyLane): Promise<LaneResult | null> {
    if (this.#closed) return Promise.resolve(null);
    return new Promise((answer) => {
      (lane.suspect === undefined ? this.#ready : this.#suspects).push({ lane, answer });
      this.#begin();
    });
  }

  /** Begins no further transaction; those in flight end on their own. Batches still waiting are answered with null. */
  close(): void {
    this.#closed = true;
    const waiting = [...this.#ready, ...this.#suspects];
    this.#ready = [];
    this.#suspects = [];
    for (const { answer } of waiting) answer(null);
  }

  #begin(): void {
    while (!this.#suspectInFlight && this.#transactions < this.#options.commitParallel) {
      // A suspect waits for an empty house; meanwhile nobody else may enter, or it would wait for ever. After each suspect
      // one group of the others goes first, so that a row of suspects does not stop everybody.
      const suspectsTurn = this.#suspects.length > 0 && !(this.#suspectWentLast && this.#ready.length > 0);
      if (suspectsTurn && this.#transactions > 0) return;
      const group = suspectsTurn ? this.#takeSuspect() : this.#takeGroup();
      if (group.length === 0 && suspectsTurn && this.#ready.length > 0) continue;
      if (group.length === 0) return;
      this.#suspectInFlight = suspectsTurn;
      this.#suspectWentLast = suspectsTurn;
      void this.#run(group);
    }
  }

  #takeGroup(): readonly Waiting[] {
    const { commitLanes, commitEvents } = this.#options;
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    let events = 0;
    for (const waiting of this.#ready) {
      const { lane } = waiting;
      if (lane.signal.aborted) {
        waiting.answer(null);
        continue;
      }
      const fits = taken.length === 0 || events + lane.requests.length <= commitEvents;
      if (taken.length < commitLanes && fits && !this.#inFlight.has(lane.lcid)) {
        this.#inFlight.add(lane.lcid);
        taken.push(waiting);
        events += lane.requests.length;
      } else {
        left.push(waiting);
      }
    }
    this.#ready = left;
    // One fixed order for all processes: two groups that meet in Postgres can then never wait for each other in a ring.
    return taken.toSorted((a, b) => (a.lane.lcid < b.lane.lcid ? -1 : 1));
  }

  #takeSuspect(): readonly Waiting[] {
    let least: Waiting | undefined;
    const left: Waiting[] = [];
    for (const waiting of this.#suspects) {
      if (waiting.lane.signal.aborted) waiting.answer(null);
      else left.push(waiting);
    }
    for (const waiting of left) {
      if (least === undefined || triesOf(waiting) < triesOf(least)) least = waiting;
    }
    this.#suspects = left.filter((waiting) => waiting !== least);
    if (least === undefined) return [];
    this.#inFlight.add(least.lane.lcid);
    return [least];
  }

  async #run(group: readonly Waiting[]): Promise<void> {
    this.#transactions += 1;
    const batches = group.map(({ lane }) => batchOf(lane));
    this.#options.onGroup?.(
      batches.length,
      batches.reduce((events, batch) => events + batch.requests.length, 0),
    );
    let results: readonly LaneResult[];
    try {
      results = await this.#options.store.apply(batches);
    } catch (thrown) {
      // The store promises never to throw; if it does anyway, nothing is known to be settled, and the lanes must hear of it.
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      results = batches.map(({ lcid }) => ({
        lcid,
        settled: [],
        trouble: { kind: "unknown", error },
        released: 0,
      }));
    }
    this.#transactions -= 1;
    this.#suspectInFlight = false;
    for (const { lane } of group) this.#inFlight.delete(lane.lcid);
    for (const [index, { lane, answer }] of group.entries()) answer(resultFor(lane.lcid, results, index));
    if (!this.#closed) this.#begin();
  }
}

function triesOf(waiting: Waiting): number {
  return waiting.lane.suspect?.tries ?? 0;
}

function batchOf(lane: ReadyLane): LaneBatch {
  const { lcid, requests } = lane;
  const batch = { lcid, requests, deadlineMs: lane.deadlineMs() };
  return lane.suspect?.giveUpHead === true ? { ...batch, giveUpHead: true } : batch;
}

/** Results come in the order of the batches; a lane that is missing all the same is answered as trouble, not as success. */
function resultFor(lcid: string, results: readonly LaneResult[], index: number): LaneResult {
  const result = results[index];
  if (result?.lcid === lcid) return result;
  const found = results.find((candidate) => candidate.lcid === lcid);
  if (found !== undefined) return found;
  const error = new Error(`the store did not answer for lane ${lcid}`);
  return { lcid, settled: [], trouble: { kind: "unknown", error }, released: 0 };
}
