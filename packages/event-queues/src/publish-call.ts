import type { PublishError } from "./errors.ts";
import type { Published, PublishResult } from "./publish-result.ts";

/** One `publish` or `publishAll`: its events, in the caller's order, and what became of each. */
export class PublishCall {
  readonly done: Promise<readonly PublishResult[]>;
  readonly #events: readonly unknown[];
  readonly #results: PublishResult[];
  readonly #refusedLanes = new Map<string, PublishError>();
  #next = 0;
  #open: number;
  #finish: (results: readonly PublishResult[]) => void = () => undefined;

  constructor(events: readonly unknown[]) {
    this.#events = events;
    this.#results = Array.from({ length: events.length });
    this.#open = events.length;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    if (this.#open === 0) this.#finish(this.#results);
  }

  get isTaken(): boolean {
    return this.#next === this.#events.length;
  }

  take(): { readonly index: number; readonly event: unknown } {
    const index = this.#next;
    this.#next += 1;
    return { index, event: this.#events[index] };
  }

  publish(index: number, published: Published): void {
    this.#settle(index, { kind: "published", ...published });
  }

  refuse(index: number, error: PublishError): void {
    this.#settle(index, { kind: "refused", error });
  }

  /** Nothing of this lane may follow an event of it that was refused, or the caller's order would be lost. */
  refuseLane(lcid: string, error: PublishError): void {
    this.#refusedLanes.set(lcid, error);
  }

  refusalOf(lcid: string): PublishError | undefined {
    return this.#refusedLanes.get(lcid);
  }

  refuseRest(error: PublishError): void {
    while (!this.isTaken) this.refuse(this.take().index, error);
  }

  /** The first verdict on an event stands. */
  #settle(index: number, result: PublishResult): void {
    if (this.#results[index] !== undefined) return;
    this.#results[index] = result;
    this.#open -= 1;
    if (this.#open === 0) this.#finish(this.#results);
  }
}
