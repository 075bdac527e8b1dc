import { channel } from "node:diagnostics_channel";
import { setTimeout as pause } from "node:timers/promises";
import type { Handoff, StandingRequest } from "@junban/handoff-lock";
import { LaneUnavailableError } from "@junban/handoff-lock";
import type { LaneResult, Outcome, Settled } from "@junban/order-store";
import type { CommitGroups, ReadyLane } from "./commit-groups.ts";
import { Company } from "./company.ts";
import type { LocalSeats, SeatEnd, ServedLane } from "./local-seats.ts";
import type { PassingTrouble } from "./passing-trouble.ts";
import { Portions } from "./portions.ts";
import type { ServedTurn } from "./ports.ts";
import { settlementOf } from "./settlement.ts";

/**
 * How a turn ended. `empty`: the line was served to its end; `yielded`: another live seat has it; `lost`: the lease was gone;
 * `trouble`: it was left because of trouble that should pass; `stopped`: it was left because this process stops.
 */
export interface TurnEnd {
  readonly kind: "empty" | "yielded" | "lost" | "trouble" | "stopped";
  /** The outcome of the carrying job's own request, when the turn came to it. */
  readonly carriedOutcome: Outcome | null;
}

/** Most requests of a batch while other lanes are served as well: each of theirs would otherwise wait for one of hundreds. */
const SHORT_BATCH = 32;
/** How long a process reckons with other lanes after it last had two, milliseconds. */
const COMPANY_LASTS_MS = 100;
/** Longest time that a deep lane stands aside after one transaction, milliseconds. */
const ASIDE_MOST_MS = 50;

/** What each of a batch's moments tells on its channel. */
interface BatchMoment {
  readonly lcid: string;
  readonly keys: readonly string[];
}

/**
 * The moments of a batch, told in this process on `node:diagnostics_channel` to whoever subscribes (tracing, and fault runs
 * that end the process exactly there): its requests were read and nothing is decided; its rows are committed and nothing is
 * taken out of the line; it is out of the line and its jobs have not ended. Each is a {@link BatchMoment}, told in the same step.
 */
const BATCH_READ = channel("junban.batch.read");
const BATCH_COMMITTED = channel("junban.batch.committed");
const BATCH_HANDED_OFF = channel("junban.batch.handed-off");

/** Told what was committed, for metrics and the few lines a log should have. Must not throw. */
export interface LaneObserver {
  settled(lcid: string, requests: readonly StandingRequest[], result: LaneResult): void;
}

export interface LaneServerOptions {
  readonly seats: LocalSeats;
  readonly groups: CommitGroups;
  readonly trouble: PassingTrouble;
  /** Longest unbroken service before other processes' seats are offered the lane, milliseconds. */
  readonly quantumMs: number;
  /** Vanished holders in a row from which a head is committed alone, and from which it is given up undecided. */
  readonly crashAlone: number;
  readonly crashGiveUp: number;
  /** Requests of a whole batch; so many are served one by one after holders vanished. */
  readonly laneBatch: number;
  readonly observers: readonly LaneObserver[];
}

/** What one turn remembers from batch to batch. */
interface Service {
  readonly turn: ServedTurn;
  readonly served: ServedLane;
  requests: readonly StandingRequest[];
  /** Holders of this lane that vanished in a row; 0 from the first handoff on. */
  vanished: number;
  /** Requests still to be served one at a time: the one that kills its holder may stand anywhere in the batch it read. */
  oneByOne: number;
  quantumEndsMs: number;
}

/**
 * Serves one turn of a lane from its first batch to its end: commit, hand off, next. Every turn given to `serve` is over
 * when `serve` ends.
 */
export class LaneServer {
  readonly #options: LaneServerOptions;
  readonly #company = new Company({ lastsMs: COMPANY_LASTS_MS });
  readonly #deliveries = new Portions();
  #stopping = false;
  #turns = 0;
  #lastProgressMs = performance.now();

  constructor(options: LaneServerOptions) {
    this.#options = options;
  }

  /** Turns being served at this moment. */
  get turns(): number {
    return this.#turns;
  }

  /** When a batch was last committed and handed off, on the clock of `performance.now()`. */
  get lastProgressMs(): number {
    return this.#lastProgressMs;
  }

  /** Turns finish the transaction they are in, hand off what it settled, and leave. */
  stop(): void {
    this.#stopping = true;
  }

  /** A job of another lane is on its way, or waits for a slot: whatever lane is served now makes room for it. */
  expectOthers(): void {
    if (this.#turns > 0) this.#company.expect();
  }

  /** @param carriedKey the request of the job that carries this turn; null when no job does. */
  async serve(turn: ServedTurn, carriedKey: string | null): Promise<TurnEnd> {
    const { seats, quantumMs, crashAlone, laneBatch } = this.#options;
    const vanished = turn.tries - 1;
    const service: Service = {
      turn,
      served: seats.open(turn.lcid, carriedKey),
      requests: turn.requests,
      vanished,
      oneByOne: vanished >= crashAlone ? laneBatch : 0,
      quantumEndsMs: performance.now() + quantumMs,
    };
    this.#turns += 1;
    this.#company.look(this.#turns);
    let kind: TurnEnd["kind"] = "trouble";
    try {
      kind = await this.#serveBatches(service);
    } finally {
      this.#turns -= 1;
      // The lane must be free before the seats empty, or the first of them would find it locked by this very turn.
      if (kind !== "yielded" && kind !== "lost") await turn.leave();
      seats.close(service.served, seatsAfter(kind));
    }
    return { kind, carriedOutcome: service.served.carriedOutcome };
  }

  async #serveBatches(service: Service): Promise<TurnEnd["kind"]> {
    for (;;) {
      if (service.requests.length === 0) return "empty";
      if (this.#stopping) return "stopped";
      if (this.#options.trouble.postgresAway) return "trouble";
      tell(BATCH_READ, service, service.requests);
      const beganMs = performance.now();
      const result = await this.#options.groups.commit(this.#readyLane(service));
      if (result === null) return service.turn.signal.aborted ? "lost" : "stopped";
      const tookMs = performance.now() - beganMs;
      if (result.settled.length > 0) this.#observe(service, result);
      if (result.trouble !== null) {
        this.#options.trouble.laneTrouble(service.turn.lcid, result.trouble);
        if (result.settled.length > 0) await this.#handOff(service, result.settled);
        return "trouble";
      }
      const answer = await this.#handOff(service, result.settled);
      if (answer === null) return "trouble";
      if (answer.kind === "released") return "empty";
      if (answer.kind !== "next") return answer.kind;
      service.requests = this.#shortened(answer.requests);
      await this.#standAside(service, tookMs);
    }
  }

  /** While others are there, a lane with more in it than a short batch has the process for half of the time at most. */
  async #standAside({ requests }: Service, tookMs: number): Promise<void> {
    if (!this.#company.isThere || requests.length < SHORT_BATCH) return;
    await pause(Math.min(tookMs, ASIDE_MOST_MS));
  }

  /** Others may have come since a whole batch was asked for. What is left out keeps its place, and is handed out again. */
  #shortened(requests: readonly StandingRequest[]): readonly StandingRequest[] {
    return this.#company.isThere ? requests.slice(0, SHORT_BATCH) : requests;
  }

  #observe({ turn, requests }: Service, result: LaneResult): void {
    for (const observer of this.#options.observers) observer.settled(turn.lcid, requests, result);
  }

  #readyLane(service: Service): ReadyLane {
    const { turn, requests, vanished } = service;
    const lane = {
      lcid: turn.lcid,
      requests,
      signal: turn.signal,
      deadlineMs: () => turn.deadlineMs(),
    };
    if (service.oneByOne === 0) return lane;
    const giveUpHead = vanished >= this.#options.crashGiveUp;
    return { ...lane, requests: requests.slice(0, 1), suspect: { tries: vanished, giveUpHead } };
  }

  /** Null when Redis did not answer: the turn then ends here, and its lease by itself. */
  async #handOff(service: Service, settled: readonly Settled[]): Promise<Handoff | null> {
    const { seats, quantumMs } = this.#options;
    const { turn, served } = service;
    const nowMs = performance.now();
    const yieldTurn = nowMs >= service.quantumEndsMs;
    if (yieldTurn) service.quantumEndsMs = nowMs + quantumMs;
    service.vanished = 0;
    service.oneByOne = Math.max(0, service.oneByOne - settled.length);
    tell(BATCH_COMMITTED, service, settled);
    const { own, delivered, deliveries } = seats.claim(served, settled);
    const batch = this.#limitFor(service);
    const options = batch === null ? { own, delivered, yieldTurn } : { own, delivered, yieldTurn, batch };
    const handedOff = turn.handOff(settled.map(settlementOf), options);
    // The rows are committed, so the jobs of this process may end while the handoff is still on its way: should it be lost, the
    // requests are handed out again and the inbox answers them. They end by and by, beside the lane's next transaction.
    this.#deliveries.add(deliveries);
    seats.sendOverdue(served);
    this.#lastProgressMs = nowMs;
    try {
      const answer = await handedOff;
      if (answer.kind === "next") seats.goesOn(served);
      tell(BATCH_HANDED_OFF, service, settled);
      return answer;
    } catch (error) {
      if (!(error instanceof LaneUnavailableError)) throw error;
      this.#options.trouble.laneUnanswered(error);
      return null;
    }
  }

  /** Most requests of the next batch; null for a whole one. */
  #limitFor({ oneByOne }: Service): number | null {
    if (oneByOne > 0) return 1;
    this.#company.look(this.#turns);
    return this.#company.isThere ? Math.min(SHORT_BATCH, this.#options.laneBatch) : null;
  }
}

function seatsAfter(kind: TurnEnd["kind"]): SeatEnd {
  return kind === "trouble" || kind === "stopped" ? { kind: "stepBack" } : { kind: "again" };
}

function tell(
  moment: typeof BATCH_READ,
  { turn: { lcid } }: Service,
  requests: readonly { readonly key: string }[],
): void {
  // Asked first: without anyone to tell, not even the list of keys is made.
  if (!moment.hasSubscribers) return;
  moment.publish({ lcid, keys: requests.map(({ key }) => key) } satisfies BatchMoment);
}
