export interface SpareSlotsOptions<Found> {
  /** Slots of the worker that these come on top of. */
  readonly slots: number;
  /** Fetches one job of first priority; null where none waits, or none can be had. Must not reject. */
  readonly fetch: () => Promise<Found | null>;
  /** How many jobs of first priority wait. */
  readonly waiting: () => Promise<number>;
  /** Processes a job that was fetched; resolves once it has ended. Must not reject. */
  readonly process: (found: Found) => Promise<void>;
  /** Told when jobs of deep lanes begin to hold half of the slots, and when they no longer do. */
  readonly onCrowd: (isThere: boolean) => void;
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
export class SpareSlots<Found> {
  readonly #options: SpareSlotsOptions<Found>;
  readonly #most: number;
  readonly #crowdedFrom: number;
  readonly #taken = new Set<Promise<void>>();
  #deep = 0;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isClosed = false;

  constructor(options: SpareSlotsOptions<Found>) {
    this.#options = options;
    this.#most = Math.ceil(options.slots * SPARE_SHARE);
    this.#crowdedFrom = Math.ceil(options.slots * CROWDED_SHARE);
  }

  /** A job of a deep lane begins. */
  deepBegan(): void {
    this.#deep += 1;
    if (this.#isClosed || this.#timer !== undefined || this.#deep < this.#crowdedFrom) return;
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
    this.#options.onCrowd(true);
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
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.onCrowd(false);
  }

  /** Asked first, since mostly nobody waits, and asking for the length of a list is far cheaper than fetching in vain. */
  async #look(): Promise<void> {
    if (this.#isLooking || this.#taken.size >= this.#most) return;
    this.#isLooking = true;
    const waiting = await this.#options.waiting().catch(() => 0);
    this.#isLooking = false;
    if (waiting > 0) this.#options.onFound();
    const wanted = Math.min(waiting, this.#most - this.#taken.size);
    for (let taken = 0; taken < wanted && !this.#isClosed; taken += 1) this.#take();
  }

  #take(): void {
    const taken = this.#process().finally(() => this.#taken.delete(taken));
    this.#taken.add(taken);
  }

  async #process(): Promise<void> {
    const found = await this.#options.fetch();
    if (found !== null) await this.#options.process(found);
  }
}
