import { createHash, randomBytes } from "node:crypto";
import type { Role } from "./settings.ts";

export interface Session {
  readonly name: string;
  readonly role: Role;
  /** Fires when the session is over, whatever ended it. */
  readonly ended: AbortSignal;
}

export interface SessionsOptions {
  /** Ends a session that nobody used for so long. */
  readonly idleMs: number;
  /** Ends a session whatever it was used for. */
  readonly longestMs: number;
  /** Seam for tests, milliseconds that only grow. */
  readonly nowMs?: () => number;
}

interface Kept extends Session {
  readonly ending: AbortController;
  readonly untilMs: number;
  usedAtMs: number;
}

/** More than people ever have open; what comes beyond pushes out the one that was idle longest. */
const MOST_SESSIONS = 1_000;

/**
 * Who is logged in, in the memory of this process, under the hashes of their cookies.
 *
 * Not in Redis: people need the console most while Redis is away, and a session that ends with a restart of the console costs one
 * login. Two consoles behind one address need a balancer that keeps a browser with one of them.
 */
export class Sessions {
  readonly #options: Required<SessionsOptions>;
  readonly #kept = new Map<string, Kept>();

  constructor({ nowMs = () => performance.now(), ...options }: SessionsOptions) {
    this.#options = { nowMs, ...options };
  }

  /** Begins a session and hands out its cookie, which is kept nowhere. */
  begin({ name, role }: Pick<Session, "name" | "role">): string {
    this.sweep();
    const cookie = randomBytes(32).toString("base64url");
    const nowMs = this.#options.nowMs();
    const ending = new AbortController();
    const untilMs = nowMs + this.#options.longestMs;
    this.#kept.set(keyOf(cookie), { name, role, ending, ended: ending.signal, untilMs, usedAtMs: nowMs });
    if (this.#kept.size > MOST_SESSIONS) {
      const [oldest] = [...this.#kept].toSorted(([, left], [, right]) => left.usedAtMs - right.usedAtMs);
      if (oldest !== undefined) this.#end(oldest[0]);
    }
    return cookie;
  }

  /** The session of a cookie. Asking for it is using it. */
  of(cookie: string): Session | null {
    const key = keyOf(cookie);
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    const nowMs = this.#options.nowMs();
    if (this.#isOver(kept, nowMs)) {
      this.#end(key);
      return null;
    }
    kept.usedAtMs = nowMs;
    return kept;
  }

  end(cookie: string): void {
    this.#end(keyOf(cookie));
  }

  /** Ends what is over, so that whoever still listens is told. */
  sweep(): void {
    const nowMs = this.#options.nowMs();
    for (const [key, kept] of this.#kept) if (this.#isOver(kept, nowMs)) this.#end(key);
  }

  #isOver({ untilMs, usedAtMs }: Kept, nowMs: number): boolean {
    return nowMs >= untilMs || nowMs - usedAtMs >= this.#options.idleMs;
  }

  #end(key: string): void {
    this.#kept.get(key)?.ending.abort();
    this.#kept.delete(key);
  }
}

function keyOf(cookie: string): string {
  return createHash("sha256").update(cookie).digest("base64url");
}
