import { DeadlineError } from "./errors.ts";

export type LineMatcher = string | RegExp | ((line: string) => boolean);

/** Lines that are kept; older ones are forgotten. */
const KEPT_LINES = 20_000;

interface Waiter {
  matches: (line: string) => boolean;
  found(line: string): void;
  ended(): void;
}

/** The lines of a running process: kept for a while, waited for, and read along. */
export class LineLog {
  readonly #lines: string[] = [];
  readonly #waiters = new Set<Waiter>();
  #forgotten = 0;
  #isOver = false;

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) {
      this.#lines.shift();
      this.#forgotten += 1;
    }
    for (const waiter of this.#waiters) if (waiter.matches(line)) waiter.found(line);
  }

  /** No line comes any more. */
  end(): void {
    this.#isOver = true;
    for (const waiter of this.#waiters) waiter.ended();
  }

  text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  tail(count: number): string {
    return this.#lines.slice(-count).join("\n");
  }

  /** Answers the first kept or coming line that matches; undefined when the log ends without one. */
  async waitFor(matcher: LineMatcher, withinMs: number): Promise<string | undefined> {
    const matches = matcherOf(matcher);
    const known = this.#lines.find(matches);
    if (known !== undefined || this.#isOver) return known;
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        settle();
      };
      const waiter: Waiter = {
        matches,
        found: (line) => finish(() => resolve(line)),
        ended: () => finish(() => resolve(undefined)),
      };
      const timer = setTimeout(() => {
        const waitedFor = `a line that matches ${String(matcher)}`;
        finish(() => reject(new DeadlineError({ waitedFor, withinMs, detail: this.tail(20) })));
      }, withinMs);
      this.#waiters.add(waiter);
    });
  }

  /** From the first kept line on, until the log ends. */
  async *read(): AsyncGenerator<string> {
    for (let next = this.#forgotten; ; next++) {
      next = Math.max(next, this.#forgotten);
      while (next >= this.#forgotten + this.#lines.length) {
        if (this.#isOver) return;
        await this.#nextLine();
        next = Math.max(next, this.#forgotten);
      }
      yield this.#lines[next - this.#forgotten] ?? "";
    }
  }

  async #nextLine(): Promise<void> {
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        this.#waiters.delete(waiter);
        resolve();
      };
      const waiter: Waiter = { matches: () => true, found: finish, ended: finish };
      this.#waiters.add(waiter);
    });
  }
}

function matcherOf(matcher: LineMatcher): (line: string) => boolean {
  if (typeof matcher === "string") return (line) => line.includes(matcher);
  if (typeof matcher === "function") return matcher;
  // A sticky or global expression remembers where it stopped, so each line gets a fresh copy.
  return (line) => new RegExp(matcher.source, matcher.flags.replaceAll(/[gy]/g, "")).test(line);
}
