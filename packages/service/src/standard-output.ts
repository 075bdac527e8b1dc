import type { DestinationStream } from "pino";

/** What may wait for a reader that does not read; later lines are dropped and counted. */
const MOST_WAITING_BYTES = 1 << 20;

type Output = Pick<NodeJS.WriteStream, "on" | "write" | "writableLength">;

/**
 * Where a process's log goes: written at once, so that the last words of a dying process are not lost, and never more
 * important than the work. A reader that is gone, a disk that is full and a reader that does not read cost lines and nothing
 * else: no wait, no error, no memory beyond a bound.
 */
export class StandardOutput implements DestinationStream {
  readonly #output: Output;
  #dropped = 0;

  constructor(output: Output = process.stdout) {
    this.#output = output;
    // Unheard, an error of the stream would end the process. Each line is tried anew: a disk does not stay full for ever.
    output.on("error", () => undefined);
  }

  write(line: string): void {
    if (this.#output.writableLength > MOST_WAITING_BYTES) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) this.#output.write(this.#gap());
    this.#dropped = 0;
    this.#output.write(line);
  }

  #gap(): string {
    const entry = { level: "warn", time: new Date().toISOString(), dropped: this.#dropped };
    return `${JSON.stringify({ ...entry, msg: "nobody read the log for a while; lines were dropped" })}\n`;
  }
}
