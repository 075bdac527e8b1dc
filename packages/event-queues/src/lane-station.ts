import { LaneUnavailableError, OutOfMemoryError } from "@junban/handoff-lock";
import type { Lanes, QueueResult } from "@junban/handoff-lock";
import { awayError, isOutage, timeoutError, unavailable } from "./connection.ts";
import { LaneFullError, QueueUnavailableError } from "./errors.ts";
import type { PublishError } from "./errors.ts";
import type { Item, StandingItem } from "./publish-item.ts";

/** Items of one lane, in the caller's order. Never empty. */
type Group = readonly [Item, ...Item[]];

interface FullLane {
  readonly depth: number;
  readonly cap: number;
}

export interface LaneStationResult {
  readonly standing: readonly StandingItem[];
  /** Set when Redis was lost on the way, and not only unwilling. */
  readonly outage: QueueUnavailableError | undefined;
}

export interface LaneStationOptions {
  readonly lanes: Pick<Lanes, "queueMany">;
  /** What the lanes were given as `commandTimeoutMs`; for the message. */
  readonly timeoutMs: number;
}

/** First station: puts each event's request into its lane, and refuses what finds no room. */
export class LaneStation {
  readonly #lanes: Pick<Lanes, "queueMany">;
  readonly #timeoutMs: number;

  constructor({ lanes, timeoutMs }: LaneStationOptions) {
    this.#lanes = lanes;
    this.#timeoutMs = timeoutMs;
  }

  /** Refuses what finds no room. One call at a time, or a lane would see two. */
  async queue(items: readonly Item[]): Promise<LaneStationResult> {
    const standing: StandingItem[] = [];
    const fitting: Group[] = [];
    let outage: QueueUnavailableError | undefined;
    const settle = (group: Group, answer: QueueResult | Error, onFull: (lane: FullLane) => void): void => {
      if (answer instanceof Error) {
        const error = this.#meaningOf(answer);
        if (isOutage(error)) outage = error;
        refuse(group, error);
      } else if (answer.kind === "queued") standing.push(...placed(group, answer.depth));
      else onFull(answer);
    };
    for (const [group, answer] of await this.#ask(groupByLane(items))) {
      settle(group, answer, (lane) => {
        // A lane takes a group whole or not at all; the part that fits asks once more.
        const part = fittingPart(group, lane);
        if (part !== undefined) fitting.push(part);
        const taken = part?.length ?? 0;
        refuse(group.slice(taken), fullError(group, { depth: lane.depth + taken, cap: lane.cap }));
      });
    }
    for (const [group, answer] of await this.#ask(fitting)) {
      settle(group, answer, (lane) => refuse(group, fullError(group, lane)));
    }
    return { standing, outage };
  }

  async #ask(groups: readonly Group[]): Promise<[Group, QueueResult | Error][]> {
    if (groups.length === 0) return [];
    const entries = groups.map((group) => ({
      lcid: lcidOf(group[0]),
      requests: group.map((item) => item.prepared.request),
    }));
    const answers = await this.#lanes.queueMany(entries);
    return groups.map((group, index) => [group, answers[index] ?? awayError()]);
  }

  #meaningOf(error: Error): QueueUnavailableError {
    if (error instanceof OutOfMemoryError) {
      const detail = "Redis has reached its memory limit";
      return new QueueUnavailableError({ code: "REDIS_OUT_OF_MEMORY", detail, cause: error });
    }
    if (!(error instanceof LaneUnavailableError)) return unavailable(error);
    return error.cause === undefined ? timeoutError(this.#timeoutMs) : unavailable(error.cause);
  }
}

function groupByLane(items: readonly Item[]): readonly Group[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(lcidOf(item));
    if (group === undefined) groups.set(lcidOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** The depth a lane reports is its last request's; those before it stood that much less deep. */
function placed(group: Group, depth: number): StandingItem[] {
  return group.map((item, index) => ({ ...item, depth: Math.max(1, depth - (group.length - 1 - index)) }));
}

function refuse(items: readonly Item[], error: PublishError): void {
  for (const item of items) {
    item.call.refuseLane(lcidOf(item), error);
    item.call.refuse(item.index, error);
  }
}

function fittingPart(group: Group, { depth, cap }: FullLane): Group | undefined {
  const [first, ...rest] = group.slice(0, Math.max(0, cap - depth));
  return first === undefined ? undefined : [first, ...rest];
}

function fullError(group: Group, lane: FullLane): LaneFullError {
  return new LaneFullError({ lcid: lcidOf(group[0]), depth: lane.depth, cap: lane.cap });
}

function lcidOf(item: Item): string {
  return item.prepared.request.lcid;
}
