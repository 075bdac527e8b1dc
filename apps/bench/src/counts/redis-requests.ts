/** One command as a client sent it: its words' beginnings, as far as a table needs them. */
export type RequestWords = readonly string[];

/** Of each command so many words are kept, and so much of each: the name, a script's digest, the number of keys, the first key. */
const KEPT_WORDS = 4;
const KEPT_BYTES = 128;

const CR = 0x0d;
const LF = 0x0a;
const ARRAY = 0x2a;

/**
 * Reads what one client says to Redis, in chunks of any size: arrays of bulk strings, which may hold any bytes. A line of plain
 * words ("inline command") is one command too.
 */
export class RedisRequestReader {
  readonly #onRequest: (words: RequestWords) => void;
  #line: number[] = [];
  #words: string[] = [];
  /** Bulk strings of the present command that are still to come. */
  #wordsToCome = 0;
  /** Bytes of the present bulk string that are still to come, its end of line included; null while a line is read. */
  #bytesToCome: number | null = null;
  #kept: Buffer[] = [];
  #keptBytes = 0;

  constructor(onRequest: (words: RequestWords) => void) {
    this.#onRequest = onRequest;
  }

  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      at =
        this.#bytesToCome === null ? this.#readLine(chunk, at) : this.#readBulk(chunk, at, this.#bytesToCome);
    }
  }

  #readLine(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === LF) {
        const line = this.#line;
        this.#line = [];
        this.#endLine(line);
        return at + 1;
      }
      if (byte !== CR) this.#line.push(byte);
    }
    return chunk.length;
  }

  #endLine(line: readonly number[]): void {
    const text = Buffer.from(line).toString("latin1");
    if (this.#wordsToCome > 0) {
      const size = Number(text.slice(1));
      if (text[0] !== "$" || !Number.isSafeInteger(size)) throw new TypeError(`no bulk string: ${text}`);
      this.#bytesToCome = size + 2;
      return;
    }
    if (line[0] === ARRAY) {
      this.#wordsToCome = Number(text.slice(1));
      return;
    }
    if (text !== "") this.#onRequest(text.split(" ").slice(0, KEPT_WORDS));
  }

  #readBulk(chunk: Buffer, start: number, toCome: number): number {
    const end = Math.min(chunk.length, start + toCome);
    this.#keep(chunk.subarray(start, Math.min(end, start + Math.max(0, toCome - 2))));
    this.#bytesToCome = toCome - (end - start);
    if (this.#bytesToCome === 0) this.#endBulk();
    return end;
  }

  #keep(bytes: Buffer): void {
    const some = bytes.subarray(0, KEPT_BYTES - this.#keptBytes);
    if (this.#words.length >= KEPT_WORDS || some.length === 0) return;
    this.#kept.push(some);
    this.#keptBytes += some.length;
  }

  #endBulk(): void {
    this.#bytesToCome = null;
    if (this.#words.length < KEPT_WORDS) this.#words.push(Buffer.concat(this.#kept).toString("latin1"));
    this.#kept = [];
    this.#keptBytes = 0;
    this.#wordsToCome -= 1;
    if (this.#wordsToCome > 0) return;
    const words = this.#words;
    this.#words = [];
    this.#onRequest(words);
  }
}
