/** Thrown when Redis is away, or did not answer a step within `commandTimeoutMs`. The step may still have happened. */
export class LaneUnavailableError extends Error {
  readonly code = "LANE_UNAVAILABLE";
  /** The step that went unanswered, for example `enter`. */
  readonly command: string;

  constructor({ command }: { command: string }, options?: ErrorOptions) {
    super(`Redis did not answer the lane step "${command}"`, options);
    this.name = "LaneUnavailableError";
    this.command = command;
  }
}

/** Thrown when a name could not be part of a Redis key safely; nothing was sent. */
export class LaneNameError extends Error {
  readonly code = "LANE_NAME";
  readonly lcid: string;

  constructor({ lcid }: { lcid: string }, options?: ErrorOptions) {
    super("a lane name is 1 to 128 characters out of 0-9 A-Z a-z . _ : @ / + = ~ -", options);
    this.name = "LaneNameError";
    this.lcid = lcid;
  }
}

/** Thrown when Redis has reached its memory limit and refused to take more. Nothing was changed. */
export class OutOfMemoryError extends Error {
  readonly code = "OUT_OF_MEMORY";
  readonly lcid: string;

  constructor({ lcid }: { lcid: string }, options?: ErrorOptions) {
    super("Redis has reached its memory limit and takes no further request", options);
    this.name = "OutOfMemoryError";
    this.lcid = lcid;
  }
}

/** Never thrown by a call: it is the reason of a turn's `signal` once the turn is no longer certain to be ours. */
export class LeaseLostError extends Error {
  readonly code = "LEASE_LOST";
  readonly lcid: string;
  /** `taken`: Redis no longer knows our token. `deadline`: no renewal succeeded in time. `closed`: the lanes were closed. */
  readonly why: "taken" | "deadline" | "closed";

  constructor({ lcid, why }: { lcid: string; why: LeaseLostError["why"] }, options?: ErrorOptions) {
    super(`the turn in lane ${lcid} is over: ${why}`, options);
    this.name = "LeaseLostError";
    this.lcid = lcid;
    this.why = why;
  }
}
