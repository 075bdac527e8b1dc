import type { StandingRequest } from "@junban/handoff-lock";
import type { LaneResult } from "@junban/order-store";
import type { LaneObserver } from "./lane-server.ts";
import type { FleetLogger } from "./ports.ts";

/** The few lines that single events are worth: those that halted their order, and those that contradict an earlier one. */
export class FleetLog implements LaneObserver {
  readonly #logger: FleetLogger;

  constructor({ logger }: { logger: FleetLogger }) {
    this.#logger = logger;
  }

  settled(lcid: string, _requests: readonly StandingRequest[], { settled }: LaneResult): void {
    let conflicts = 0;
    for (const { source, id, type, outcome, repeat } of settled) {
      if (outcome === "conflict") conflicts += 1;
      if (outcome !== "failed" || repeat) continue;
      this.#logger.error(
        { lcid, source, id, type },
        "an event failed; its order waits until somebody replays or drops it",
      );
    }
    if (conflicts === 0) return;
    this.#logger.warn({ lcid, conflicts }, "events came again with another body; the first decision stands");
  }
}
