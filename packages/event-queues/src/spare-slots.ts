export interface SpareSlotsOptions {
  /** Slots of the worker that these come on top of. */
  readonly slots: number;
  /** How many jobs of first priority wait in the queue. */
  readonly waiting: () => Promise<number>;
  /** Fetches one job and processes it; resolves once it has ended, and at once where none waits. Must not reject. */
  readonly take: () => Promise<void>;
  /** Told whenever some are found to wait. */
  readonly onFound: () => void;
}

/** Of a worker's slots, so many more may be taken by jobs that would otherwise wait behind deep lanes. */
const SPARE_SHARE = 1 / 8;
/** Of a worker's slots, so many are held by jobs of deep lanes when it begins to look. */
const CROWDED_SHARE = 1 / 2;
const LOOK_EVERY_MS = 10;

/**
 * A worker fetches when a slot comes free, and a flood on one order holds all of them until its next transaction is over. While
 * jobs of deep lanes hold at least half of a worker's slots, jobs of first priority are therefore looked for and taken into slots
 * beyond those, an eighth of them at most. Each is given back when its job has ended, so that a flood never gets hold of them for long.
 */
export class SpareSlots {
  readonly #options: SpareSlotsOptions;
  readonly #most: number;
  readonly #crowdedFrom: number;
  readonly #taken = new Set<Promise<void>>();
  #deep = 0;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isClosed = false;

  constructor(options: SpareSlotsOptions) {
    this.#options = options;
    this.#most = Math.ceil(options.slots * SPARE_SHARE);
    this.#crowdedFrom = Math.ceil(options.slots * CROWDED_SHARE);
  }

  /** A job of a deep lane begins. */
  deepBegan(): void {
    this.#deep += 1;
    if (this.#isClosed || this.#timer !== undefined || this.#deep < this.#crowdedFrom) return;
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  deepEnded(): void {
    this.#deep -= 1;
    if (this.#deep < this.#crowdedFrom) this.#stopLooking();
  }

  /** Takes no more, and resolves when the jobs that were taken have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopLooking();
    await Promise.all(this.#taken);
  }

  #stopLooking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#taken.size >= this.#most) return;
    this.#isLooking = true;
    try {
      const waiting = await this.#options.waiting();
      if (waiting > 0) this.#options.onFound();
      const wanted = Math.min(waiting, this.#most - this.#taken.size);
      for (let taken = 0; taken < wanted && !this.#isClosed; taken += 1) this.#take();
    } catch {
      // Whoever cannot ask cannot fetch either, and fetching tells of it.
    } finally {
      this.#isLooking = false;
    }
  }

  #take(): void {
    const taken = this.#options.take().finally(() => this.#taken.delete(taken));
    this.#taken.add(taken);
  }
}
