import type { WriteStream } from "node:tty";

/** Tells a terminal what is being looked at and for how long; says nothing to anything else. */
export class Waiting {
  readonly #stream: Pick<WriteStream, "isTTY" | "write">;
  readonly #timer: NodeJS.Timeout | null;

  constructor(stream: Pick<WriteStream, "isTTY" | "write">, name: string) {
    this.#stream = stream;
    const startMs = performance.now();
    const show = (): void => {
      stream.write(`\r\u001B[K${name} … ${Math.round((performance.now() - startMs) / 1_000)} s`);
    };
    this.#timer = stream.isTTY ? setInterval(show, 1_000) : null;
    if (this.#timer !== null) show();
  }

  end(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#stream.write("\r\u001B[K");
  }
}
