/** Ends that were sent: of how many jobs, and when they are answered. */
export interface SentEnds {
  readonly jobs: number;
  /** Must not reject. */
  readonly answered: Promise<void>;
}

/** Sends the ends of `most` jobs at most, in one call. */
export type SendEnds = (most: number) => SentEnds;

interface Bounds {
  /** From so many jobs under way on, nothing more is sent. */
  readonly underWay: number;
  readonly aCall: number;
}

/** Redis takes some 0.05 to 0.1 ms for a job, and answers nobody else during a call. */
const ORDINARY: Bounds = { underWay: 128, aCall: 64 };
/** While deep lanes hold the slots. Whoever comes then meets what is under way at each of its first steps. */
const BESIDE_A_CROWD: Bounds = { underWay: 64, aCall: 32 };
const BESIDE_OTHERS: Bounds = { underWay: 32, aCall: 16 };
/** How long others are reckoned with after they were last seen, milliseconds. */
const OTHERS_LAST_MS = 100;

export interface EndsUnderWayOptions {
  /** Default `performance.now`. */
  readonly clock?: () => number;
}

/**
 * Bounds how many jobs' ends are under way to Redis at a time, over all queues of a connection. Hundreds of jobs end with one
 * transaction, and thousands whose events were decided before they were fetched; sent at once they would hold up each step of
 * every other order for tens of milliseconds. What waits meanwhile is sent together.
 */
export class EndsUnderWay {
  readonly #clock: () => number;
  readonly #waiting: SendEnds[] = [];
  #jobs = 0;
  #crowds = 0;
  #isSending = false;
  #othersUntilMs = Number.NEGATIVE_INFINITY;

  constructor({ clock = () => performance.now() }: EndsUnderWayOptions = {}) {
    this.#clock = clock;
  }

  /** Others are waiting for what goes the same way: for a while less is sent at a time. */
  makeRoom(): void {
    this.#othersUntilMs = this.#clock() + OTHERS_LAST_MS;
  }

  /** Jobs of deep lanes hold the slots of a queue from here on. */
  crowdBegan(): void {
    this.#crowds += 1;
  }

  crowdEnded(): void {
    this.#crowds -= 1;
  }

  /** Calls `send` once there is room, in the order of asking; in this very step if there is, unless another one is calling. */
  whenThereIsRoom(send: SendEnds): void {
    this.#waiting.push(send);
    this.#sendSome();
  }

  #sendSome(): void {
    // Whoever sends may ask again at once, before it is counted what was sent.
    if (this.#isSending) return;
    this.#isSending = true;
    const bounds = this.#bounds();
    while (this.#jobs < bounds.underWay) {
      const send = this.#waiting.shift();
      if (send === undefined) break;
      this.#send(send, bounds);
    }
    this.#isSending = false;
  }

  #bounds(): Bounds {
    if (this.#clock() < this.#othersUntilMs) return BESIDE_OTHERS;
    return this.#crowds > 0 ? BESIDE_A_CROWD : ORDINARY;
  }

  #send(send: SendEnds, { aCall }: Bounds): void {
    const { jobs, answered } = send(aCall);
    this.#jobs += jobs;
    void answered.then(() => {
      this.#jobs -= jobs;
      this.#sendSome();
    });
  }
}
