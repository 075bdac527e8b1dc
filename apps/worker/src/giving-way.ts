/**
 * Where deep lanes stand aside for a moment. Between two batches of a lane with many requests the lanes of few are served, and
 * whoever stands aside goes on as soon as they are through, or when its time is up. Deep lanes do not wait for one another.
 */
export class GivingWay {
  readonly #aside = new Set<() => void>();

  /**
   * @param turns lanes served at this moment, those that stand aside among them
   * @param mostMs the longest wait, milliseconds
   */
  async standAside({ turns, mostMs }: { readonly turns: number; readonly mostMs: number }): Promise<void> {
    if (turns <= this.#aside.size + 1) {
      this.#letGoOn();
      return;
    }
    await new Promise<void>((goOn) => {
      const through = (): void => {
        clearTimeout(timer);
        this.#aside.delete(through);
        goOn();
      };
      const timer = setTimeout(through, mostMs);
      this.#aside.add(through);
    });
  }

  /** @param turns lanes that are still served. */
  turnEnded(turns: number): void {
    if (turns <= this.#aside.size) this.#letGoOn();
  }

  #letGoOn(): void {
    for (const through of this.#aside) through();
  }
}
