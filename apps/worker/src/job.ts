import { setMaxListeners } from "node:events";
import type { IncomingJob, JobEnd } from "@junban/event-queues";
import type { Entry, LaneRequest, Standing } from "@junban/handoff-lock";
import { LaneUnavailableError, OutOfMemoryError } from "@junban/handoff-lock";
import { readEnvelope, requestOf } from "@junban/orders";
import type { LaneServer } from "./lane-server.ts";
import type { LocalSeats, Way } from "./local-seats.ts";
import type { PassingTrouble } from "./passing-trouble.ts";
import type { LaneEntrance, ServedTurn } from "./ports.ts";

export interface JobObserver {
  steppedBack(): void;
  unusable(): void;
}

export interface JobLifeOptions {
  readonly lanes: LaneEntrance;
  readonly seats: LocalSeats;
  readonly server: LaneServer;
  readonly trouble: PassingTrouble;
  readonly observer: JobObserver;
}

/** How a job fared with its lane: its event has a row, or it comes back later, or this process is stopping. */
type Fate = "settled" | "stepBack" | "cancelled";

/** What one step towards that led to: the fate itself, another way to try, or a turn that was lost. */
type Step = Fate | "lost" | Way;

/** Turns lost by one job after which it stays away for a while instead of entering once more. */
const LOST_LIMIT = 3;

/**
 * The life of one job, from its envelope to its end:
 *
 * parse → seat in this process, or `enter` and stand at the lane → turn → serve → completed, delayed, or unusable for good.
 *
 * It completes only once its event has a row, and nothing that befalls it on the way counts against the event.
 */
export class JobLife {
  readonly #options: JobLifeOptions;
  readonly #stopping = new AbortController();

  constructor(options: JobLifeOptions) {
    this.#options = options;
    // Every job that stands at a lane listens to this one signal, so the usual limit of ten listeners says nothing here.
    setMaxListeners(0, this.#stopping.signal);
  }

  /** Jobs that wait step back at once; jobs that carry a turn go on until it ends. */
  stop(): void {
    this.#stopping.abort();
  }

  async process(job: IncomingJob): Promise<JobEnd> {
    const reading = readEnvelope(job.data);
    if (reading.kind === "unusable") {
      this.#options.observer.unusable();
      return { kind: "unusable", reason: `${reading.field}: ${reading.rule}` };
    }
    const { lcid, key, body } = requestOf(reading.envelope);
    switch (await this.#fateOf(lcid, { key, body })) {
      case "settled":
        return { kind: "completed" };
      case "cancelled":
        // Neither a failure nor trouble: any other process may have it at once.
        return { kind: "delayed", delayMs: 0 };
      case "stepBack":
        this.#options.observer.steppedBack();
        return { kind: "delayed", delayMs: this.#options.trouble.delayMsAfter(job.stepsBack) };
    }
  }

  async #fateOf(lcid: string, request: LaneRequest): Promise<Fate> {
    if (this.#stopping.signal.aborted) return "cancelled";
    if (this.#options.trouble.postgresAway) return "stepBack";
    let fate: Fate = "stepBack";
    try {
      fate = await this.#goToLane(lcid, request);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      // Redis away or full: both pass. Anything else is a bug, and still no reason to give up an event.
      const passes = error instanceof LaneUnavailableError || error instanceof OutOfMemoryError;
      if (passes) this.#options.trouble.laneUnanswered(error);
      else this.#options.trouble.jobFailed(lcid, error);
    }
    return fate === "stepBack" && this.#stopping.signal.aborted ? "cancelled" : fate;
  }

  async #goToLane(lcid: string, request: LaneRequest): Promise<Fate> {
    let way: Way = this.#options.seats.approach(lcid, request.key);
    for (let lost = 0; ;) {
      const step = await this.#take(way, lcid, request);
      if (typeof step === "object") {
        way = step;
      } else if (step !== "lost") {
        return step;
      } else {
        lost += 1;
        if (lost === LOST_LIMIT) return "stepBack";
        way = this.#options.seats.approach(lcid, request.key);
      }
    }
  }

  #take(way: Way, lcid: string, request: LaneRequest): Promise<Step> {
    switch (way.kind) {
      case "sit":
        return this.#sit(way.end, lcid, request.key);
      case "stand":
        return this.#stand(lcid, request);
      case "told":
        return Promise.resolve("settled");
      case "first":
      case "knock":
        return this.#enter(way.kind, lcid, request);
    }
  }

  async #sit(seat: (Way & { kind: "sit" })["end"], lcid: string, key: string): Promise<Step> {
    const end = await seat;
    switch (end.kind) {
      case "settled":
      case "stepBack":
        return end.kind;
      case "knock":
        return { kind: "knock" };
      case "again":
        return this.#options.seats.approach(lcid, key);
    }
  }

  async #enter(way: "first" | "knock", lcid: string, request: LaneRequest): Promise<Step> {
    const { lanes, seats, server } = this.#options;
    if (way === "first") server.expectOthers();
    let entry: Entry;
    try {
      entry = await lanes.enter(lcid, request);
    } catch (error) {
      if (way === "first") seats.arrived(lcid, { kind: "stepBack" });
      throw error;
    }
    switch (entry.kind) {
      case "turn":
        return this.#serve(entry.turn, request.key);
      case "settled":
        // The lane has passed here before these jobs were fetched, so the others probably find their outcomes there too.
        if (way === "first") seats.arrived(lcid, { kind: "knock" });
        return "settled";
      case "waiting":
        return seats.waits(lcid, request.key, way);
    }
  }

  async #stand(lcid: string, request: LaneRequest): Promise<Step> {
    const { lanes, seats } = this.#options;
    let standing: Standing;
    try {
      standing = await lanes.stand(lcid, request, { signal: this.#stopping.signal });
    } catch (error) {
      seats.stood(lcid);
      throw error;
    }
    // The server notes in this very step that the lane is served here; only then is this job no longer counted as standing.
    const serving = standing.kind === "turn" ? this.#serve(standing.turn, request.key) : null;
    seats.stood(lcid);
    switch (standing.kind) {
      case "turn":
        return serving ?? "lost";
      case "settled":
      case "cancelled":
        return standing.kind;
      case "steppedBack":
        return "stepBack";
    }
  }

  async #serve(turn: ServedTurn, key: string): Promise<Step> {
    const { kind, carriedOutcome } = await this.#options.server.serve(turn, key);
    if (carriedOutcome !== null) return "settled";
    switch (kind) {
      case "trouble":
        return "stepBack";
      case "stopped":
        return "cancelled";
      case "lost":
        return "lost";
      case "empty":
      case "yielded":
        return this.#options.seats.approach(turn.lcid, key);
    }
  }
}
