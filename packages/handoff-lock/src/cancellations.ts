import type { Seat } from "./seat.ts";

interface Watch {
  readonly seats: Set<Seat>;
  readonly cancel: () => void;
}

/** One listener for each distinct signal: hundreds of waits usually share the one that says this process is stopping. */
export class Cancellations {
  readonly #watches = new Map<AbortSignal, Watch>();

  watch(signal: AbortSignal, seat: Seat): void {
    if (signal.aborted) {
      seat.call({ kind: "cancelled" });
      return;
    }
    const watch = this.#watches.get(signal) ?? this.#begin(signal);
    watch.seats.add(seat);
  }

  unwatch(signal: AbortSignal, seat: Seat): void {
    const watch = this.#watches.get(signal);
    if (watch === undefined || !watch.seats.delete(seat) || watch.seats.size > 0) return;
    this.#watches.delete(signal);
    signal.removeEventListener("abort", watch.cancel);
  }

  #begin(signal: AbortSignal): Watch {
    const seats = new Set<Seat>();
    const cancel = (): void => {
      for (const seat of seats) seat.call({ kind: "cancelled" });
    };
    const watch = { seats, cancel };
    this.#watches.set(signal, watch);
    signal.addEventListener("abort", cancel, { once: true });
    return watch;
  }
}
