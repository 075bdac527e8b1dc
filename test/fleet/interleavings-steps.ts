import type fc from "fast-check";
import type { Tally } from "../support/exploration.ts";

/** Where the scheduler chooses who goes on: every step waits here until its turn has come. */
export class Steps {
  readonly #scheduler: fc.Scheduler;
  readonly #tally: Tally;

  constructor({ scheduler, tally }: { readonly scheduler: fc.Scheduler; readonly tally: Tally }) {
    this.#scheduler = scheduler;
    this.#tally = tally;
  }

  async take(kind: string, where: string): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), `${kind} ${where}`);
    this.#tally.step(kind);
  }
}

/** What may go wrong with one kind of step, drawn beforehand, so that a seed replays; nothing when the list is used up. */
export class Misfortunes<Kind extends string> {
  readonly #drawn: readonly (Kind | "none")[];
  readonly #of: string;
  readonly #tally: Tally;
  #next = 0;

  constructor(options: { drawn: readonly (Kind | "none")[]; of: string; tally: Tally }) {
    this.#drawn = options.drawn;
    this.#of = options.of;
    this.#tally = options.tally;
  }

  next(): Kind | "none" {
    const kind = this.#drawn[this.#next] ?? "none";
    this.#next += 1;
    if (kind !== "none") this.#tally.count(`${this.#of} ${kind}`);
    return kind;
  }
}
