/** Waiting that somebody can end early. A ring while nobody waits ends the next wait at once. */
export class Bell {
  #rung = false;
  #end: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#end?.();
  }

  /** Forgets earlier rings: whoever is about to look anyway calls it first. */
  still(): void {
    this.#rung = false;
  }

  async wait(limitMs: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#end = undefined;
    }
    this.#rung = false;
  }
}
