import { tellStories, type PublishedEvent, type StoriesOptions } from "@junban/order-stories";
import { readStored, thinkReference, unlessAborted, verdictOf } from "@junban/trial";
import { count } from "../printing.ts";
import { HotLane } from "./hot-lane.ts";
import { untilIdle } from "./idle.ts";
import type { DemoOptions } from "./options.ts";
import { Publication } from "./publication.ts";
import { Readings } from "./readings.ts";
import type { Scene, View } from "./scene.ts";
import type { Stage } from "./stage.ts";
import { movedAgainAfterMs, strikeHolder, type Strike, type StrikeOptions } from "./strike.ts";
import { healingNote, strikeNote, type RunReport } from "./summary.ts";

const HOT_LCID = "A-HOT";

function storiesFor({ orders, burst, seed }: DemoOptions): StoriesOptions {
  return { seed, orders, hotOrder: { events: burst, lcid: HOT_LCID } };
}

export interface RunOptions {
  readonly demo: DemoOptions;
  readonly stage: Stage;
  readonly view: View;
  readonly signal: AbortSignal;
  readonly startedAtMs: number;
}

/** One run from the first event to the verdict, on a stage that is set. */
export class Run {
  readonly hotLane: HotLane;
  readonly #options: RunOptions;
  readonly #stream: readonly PublishedEvent[];
  readonly #publication: Publication;
  readonly #readings: Readings;
  #doing = "publishing";

  constructor(options: RunOptions) {
    const { demo, stage } = options;
    this.#options = options;
    this.#stream = tellStories(storiesFor(demo));
    const hotEvents = this.#stream.filter(
      ({ event, repeatOf }) => event.lcid === HOT_LCID && repeatOf === null,
    );
    this.hotLane = new HotLane({
      lcid: HOT_LCID,
      events: hotEvents.map(({ event }) => event),
      services: stage.services,
    });
    this.#publication = new Publication({
      stream: this.#stream,
      publishers: stage.publishers,
      hotPublisher: stage.hotPublisher,
      seed: demo.seed,
      hotLcid: HOT_LCID,
    });
    this.#readings = new Readings({ services: stage.services, lane: this.hotLane });
  }

  async play(): Promise<RunReport> {
    const { view } = this.#options;
    this.#readings.start();
    const ticking = setInterval(() => view.show(this.#scene()), view.everyMs);
    try {
      this.#announce();
      const [seconds, struck] = await this.#together([
        async (either) => this.#publishUntilIdle(either),
        async (either) => this.#strike(either),
      ]);
      const verdict = await this.#check();
      return { verdict, seconds, publishers: this.#publishers, ...struck };
    } finally {
      clearInterval(ticking);
      await this.#readings.stop();
    }
  }

  #announce(): void {
    const repeats = this.#stream.filter(({ note }) => note === "repeat").length;
    const early = this.#stream.filter(({ note }) => note === "early").length;
    const invalid = this.#stream.filter(({ note }) => note === "invalid").length;
    this.#options.view.note(
      [
        `publishing ${count(this.#stream.length)} events of ${count(this.#orders)} orders from ${this.#publishers} publishers:`,
        `${count(repeats)} are sent twice, ${count(early)} come too early, ${count(invalid)} must not be applied,`,
        `${count(this.hotLane.events.length)} belong to one order, ${HOT_LCID}`,
      ].join("\n"),
    );
  }

  /** Resolves to the seconds from the first publish until nothing was left to do. */
  async #publishUntilIdle(signal: AbortSignal): Promise<number> {
    const { stage, view } = this.#options;
    const sinceMs = performance.now();
    await this.#publication.run(signal);
    view.note("everything is published; the workers have the rest");
    this.#doing = "the workers decide what is left";
    await untilIdle(stage.services, { signal });
    const seconds = (performance.now() - sinceMs) / 1_000;
    view.note(`nothing is left to do after ${seconds.toFixed(1)} s`);
    return seconds;
  }

  /** Kills the holder of the hot lane, waits until the lane moves again, and fills the gap. */
  async #strike(signal: AbortSignal): Promise<Pick<RunReport, "strike" | "movedAgainMs">> {
    const { stage, view } = this.#options;
    const options: StrikeOptions = {
      lane: this.hotLane,
      crew: stage.crew,
      published: () => this.#publication.hotAcknowledged,
      signal,
    };
    const strike = await strikeHolder(options);
    if (strike === null) return { strike, movedAgainMs: null };
    view.note(strikeNote(strike, HOT_LCID));
    // With nobody left the lane could wait for ever.
    const isAlone = stage.crew.atWork === 0;
    if (isAlone) await this.#replace(strike, signal);
    const movedAgainMs = strike.held ? await movedAgainAfterMs(strike, options) : null;
    if (strike.held) view.note(healingNote(movedAgainMs));
    if (!isAlone) await this.#replace(strike, signal);
    return { strike, movedAgainMs };
  }

  async #replace({ victim }: Strike, signal: AbortSignal): Promise<void> {
    const { stage, view } = this.#options;
    const { number, pid } = await unlessAborted(stage.crew.start(), signal);
    view.note(`worker ${number} (pid ${pid}) takes the place of worker ${victim.number}`);
  }

  async #check(): Promise<RunReport["verdict"]> {
    const store = this.#options.stage.services.store();
    const lcids = [...new Set(this.#stream.map(({ event }) => event.lcid))];
    const sendings = this.#publication.acknowledged.flatMap(
      (position) => this.#stream[position]?.event ?? [],
    );
    const [stored, reference] = await this.#together([
      async (signal) => {
        const found = await readStored({
          store,
          lcids,
          signal,
          onProgress: (step, done) => {
            this.#doing = `${step} every order: ${count(done)} of ${count(lcids.length)}`;
          },
        });
        this.#doing = "thinking over once more what must have come of it all";
        return found;
      },
      async (signal) => thinkReference(sendings, { signal }),
    ]);
    return verdictOf({ ...stored, reference, sendings });
  }

  /** Runs both; when one fails, the other is told to end too. */
  async #together<One, Other>([one, other]: readonly [
    (signal: AbortSignal) => Promise<One>,
    (signal: AbortSignal) => Promise<Other>,
  ]): Promise<[One, Other]> {
    const trouble = new AbortController();
    const either = AbortSignal.any([this.#options.signal, trouble.signal]);
    const guarded = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
      work(either).catch((error: unknown) => {
        trouble.abort(error);
        throw error;
      });
    return Promise.all([guarded(one), guarded(other)]);
  }

  get #publishers(): number {
    return this.#options.stage.publishers.length + 1;
  }

  get #orders(): number {
    return this.#options.demo.orders + 1;
  }

  #scene(): Scene {
    const { stage, startedAtMs } = this.#options;
    return {
      doing: this.#doing,
      elapsedMs: performance.now() - startedAtMs,
      orders: this.#orders,
      published: this.#publication.acknowledged.length,
      toPublish: this.#stream.length,
      toDecide: this.#stream.filter(({ repeatOf }) => repeatOf === null).length,
      reading: this.#readings.latest,
      rates: this.#readings.rates,
      hotLcid: HOT_LCID,
      crew: stage.crew.members,
    };
  }
}
