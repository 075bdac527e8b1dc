/** Why Redis could not take an event, or answer a question. */
export type QueueUnavailableCode =
  /** No connection (refused, cut, or never made), or one to a server that cannot take writes at present. */
  | "REDIS_AWAY"
  /** Connected, but no answer within `timeoutMs`. The write may still have happened; publishing again is safe. */
  | "REDIS_TIMEOUT"
  /** Redis is at its memory limit. */
  | "REDIS_OUT_OF_MEMORY"
  /** Redis answered with another error; `cause` has it. */
  | "REDIS_REFUSED"
  /** Written, but fewer replicas than asked for confirmed it in time. */
  | "REPLICAS_BEHIND"
  /** `close()` was called. */
  | "CLOSED";

/** Thrown when an event may not enter: its envelope is unusable, it is not JSON, or it is too large. Never retried with success. */
export class InvalidEventError extends Error {
  readonly code: "INVALID_EVENT" | "EVENT_TOO_LARGE";
  /** Path of the offending field, such as `lcid`; empty for the event as a whole. */
  readonly field: string;
  /** What is allowed there. */
  readonly rule: string;

  constructor(broken: { code: "INVALID_EVENT" | "EVENT_TOO_LARGE"; field: string; rule: string }) {
    super(broken.field === "" ? broken.rule : `${broken.field}: ${broken.rule}`);
    this.name = "InvalidEventError";
    this.code = broken.code;
    this.field = broken.field;
    this.rule = broken.rule;
  }
}

/** Thrown when an order's lane has no room. Nothing was written; publish again once the lane has been served. */
export class LaneFullError extends Error {
  readonly code = "LANE_FULL";
  readonly lcid: string;
  readonly depth: number;
  readonly cap: number;

  constructor(lane: { lcid: string; depth: number; cap: number }) {
    super(`the lane of ${lane.lcid} is full: ${lane.depth} of ${lane.cap}`);
    this.name = "LaneFullError";
    this.lcid = lane.lcid;
    this.depth = lane.depth;
    this.cap = lane.cap;
  }
}

/** Thrown when Redis did not confirm in time. The event is not acknowledged; publishing it again is safe. */
export class QueueUnavailableError extends Error {
  readonly code: QueueUnavailableCode;

  constructor(trouble: { code: QueueUnavailableCode; detail: string; cause?: unknown }) {
    super(trouble.detail, trouble.cause === undefined ? undefined : { cause: trouble.cause });
    this.name = "QueueUnavailableError";
    this.code = trouble.code;
  }
}

/** Reported when a job of updates holds none. It failed for good and is kept, with up to 1,000 others of its queue. */
export class UnusableUpdateError extends Error {
  readonly code = "UNUSABLE_UPDATE";
  readonly queue: string;
  readonly jobId: string;
  readonly reason: string;

  constructor({ queue, jobId, reason }: { queue: string; jobId: string; reason: string }) {
    super(`job ${jobId} of ${queue} holds no update: ${reason}`);
    this.name = "UnusableUpdateError";
    this.queue = queue;
    this.jobId = jobId;
    this.reason = reason;
  }
}

/** Thrown when Redis may evict keys: it would drop locks, lines and jobs, and no one would be told. A restart alone does not help. */
export class EvictingRedisError extends Error {
  readonly code = "EVICTING_REDIS";
  readonly policy: string;

  constructor({ policy }: { policy: string }) {
    super(`Redis has maxmemory-policy ${policy} and may drop locks, lines and jobs; set it to noeviction`);
    this.name = "EvictingRedisError";
    this.policy = policy;
  }
}

export type PublishError = InvalidEventError | LaneFullError | QueueUnavailableError;
