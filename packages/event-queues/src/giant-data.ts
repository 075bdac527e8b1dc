import { MAX_EVENT_BYTES } from "@junban/orders";

/** Sixteen times the largest event. What is larger than an event and below that is read, and answered in its event's place. */
const MOST_CHARACTERS = 16 * MAX_EVENT_BYTES;
const BEGINNING_CHARACTERS = 200;

/**
 * Stands in for job data so large that reading it would hold up everything else in the process for seconds, and in a small
 * container end it, with the next process after it. Such a job fails for good, and only this much of its data is kept.
 */
export class GiantData {
  static readonly rule = `its data is larger than ${MOST_CHARACTERS} characters`;
  readonly #beginning: string;
  readonly #characters: number;

  private constructor(text: string) {
    // A copy: a mere slice would keep the whole text in memory.
    this.#beginning = Buffer.from(text.slice(0, BEGINNING_CHARACTERS)).toString();
    this.#characters = text.length;
  }

  static of(text: string): GiantData | null {
    return text.length > MOST_CHARACTERS ? new GiantData(text) : null;
  }

  /** What is kept in Redis instead of the data. */
  summary(): { readonly beginning: string; readonly characters: number } {
    return { beginning: this.#beginning, characters: this.#characters };
  }
}
