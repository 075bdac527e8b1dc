/** A message without its length: what kind it is, and the beginning of what it says. */
export interface PostgresMessage {
  /** One letter; "" for the first message of a client, which has none. */
  readonly kind: string;
  readonly body: Buffer;
}

const LENGTH_BYTES = 4;
/** Enough for a command's tag and for a transaction's state. */
const KEPT_BYTES = 16;

/** Reads one direction of a Postgres connection without encryption, in chunks of any size. */
export class PostgresMessageReader {
  readonly #onMessage: (message: PostgresMessage) => void;
  /** How many bytes of kind a message has: a client's first one has none. */
  #kindBytes: number;
  #head: number[] = [];
  #kept: number[] = [];
  #bytesToCome = 0;

  constructor(side: "client" | "server", onMessage: (message: PostgresMessage) => void) {
    this.#kindBytes = side === "client" ? 0 : 1;
    this.#onMessage = onMessage;
  }

  get isBetweenMessages(): boolean {
    return this.#head.length === 0;
  }

  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#head.length < this.#kindBytes + LENGTH_BYTES) {
        this.#head.push(chunk[at] ?? 0);
        at += 1;
        if (this.#head.length === this.#kindBytes + LENGTH_BYTES) this.#begin();
        continue;
      }
      const end = Math.min(chunk.length, at + this.#bytesToCome);
      this.#kept.push(...chunk.subarray(at, Math.min(end, at + KEPT_BYTES - this.#kept.length)));
      this.#bytesToCome -= end - at;
      at = end;
      if (this.#bytesToCome === 0) this.#end();
    }
  }

  #begin(): void {
    // The length counts itself.
    this.#bytesToCome = Buffer.from(this.#head.slice(this.#kindBytes)).readUInt32BE() - LENGTH_BYTES;
    if (this.#bytesToCome === 0) this.#end();
  }

  #end(): void {
    const kind = this.#kindBytes === 0 ? "" : String.fromCodePoint(this.#head[0] ?? 0);
    const body = Buffer.from(this.#kept);
    this.#head = [];
    this.#kept = [];
    this.#kindBytes = 1;
    this.#onMessage({ kind, body });
  }
}
