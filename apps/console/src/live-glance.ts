import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Glance } from "@junban/operations";
import { Rates } from "./rates.ts";
import type { Speed } from "./rates.ts";

/** What the fleet page shows. */
export interface Look {
  readonly glance: Glance;
  readonly speed: Speed;
}

export interface LiveGlanceOptions {
  /** A look that counts what was decided since `after`, a number from an earlier one. */
  readonly read: (from: { readonly after: number | null }) => Promise<Glance>;
  /** The shortest pause between two looks. */
  readonly refreshMs: number;
  /** One message of the stream, as one line. */
  readonly message: (look: Look) => string;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

export interface Viewer {
  readonly name: string;
  readonly ended: AbortSignal;
}

const MOST_STREAMS = 64;
const MOST_STREAMS_A_PERSON = 8;
/** A page that hears nothing three times over says so: a connection may die without a word. */
const HEARTBEAT_MS = 2_000;
/** The longer a look takes, the longer the pause behind it: a large fleet is not kept busy by being watched. */
const PAUSE_PER_LOOK = 9;
const LONGEST_PAUSE_MS = 10_000;
/** A browser that does not read; it comes again and gets the newest look. */
const MOST_UNREAD_BYTES = 262_144;
/** Looks go on for a while without viewers, so that whoever comes back sees how fast things were going. */
const LINGER_MS = 30_000;

/**
 * One look at the fleet for everybody who watches. However many browsers are open, the services are asked once; while nobody
 * watches they are not asked at all.
 */
export class LiveGlance {
  readonly #options: LiveGlanceOptions;
  readonly #rates = new Rates();
  readonly #streams = new Map<ServerResponse, string>();
  #isWatching = false;
  #reading: Promise<Look> | undefined;
  #latest: Look | undefined;
  #watchedAtMs = 0;

  constructor(options: LiveGlanceOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => this.#endAll(), { once: true });
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** The latest look, or a new one where that is old. */
  async look(): Promise<Look> {
    const { refreshMs } = this.#options;
    if (this.#latest !== undefined && Date.now() - this.#latest.glance.atMs < refreshMs) return this.#latest;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * Sends looks for as long as the browser listens and the person is known. Where there are too many streams it ends at once and says
   * so: a browser tells its page nothing of a refusal.
   */
  join(response: ServerResponse, { name, ended }: Viewer): void {
    const own = [...this.#streams.values()].filter((other) => other === name).length;
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // A proxy that collects answers would hold the stream back.
      "x-accel-buffering": "no",
    });
    if (this.#streams.size >= MOST_STREAMS || own >= MOST_STREAMS_A_PERSON) {
      response.end(overMessage("too many pages follow the fleet, close some and load this one again"));
      return;
    }
    this.#streams.set(response, name);
    response.write("retry: 2000\n\n");
    const heartbeat = setInterval(() => response.write("event: beat\ndata: still here\n\n"), HEARTBEAT_MS);
    const over = (): void => {
      response.end(overMessage("the session is over, log in again"));
    };
    ended.addEventListener("abort", over, { once: true });
    response.once("close", () => {
      clearInterval(heartbeat);
      ended.removeEventListener("abort", over);
      this.#streams.delete(response);
    });
    if (ended.aborted) over();
    if (this.#latest !== undefined) this.#send(response, this.#latest);
    if (!this.#isWatching) void this.#watch();
  }

  /** Never rejects: a look keeps what went wrong as a value. */
  async #watch(): Promise<void> {
    const { refreshMs, signal } = this.#options;
    this.#isWatching = true;
    this.#watchedAtMs = performance.now();
    while (!signal.aborted && performance.now() - this.#watchedAtMs < LINGER_MS) {
      const startMs = performance.now();
      const look = await this.look();
      for (const response of this.#streams.keys()) this.#send(response, look);
      const tookMs = performance.now() - startMs;
      const pauseMs = isWhole(look) ? Math.min(tookMs * PAUSE_PER_LOOK, LONGEST_PAUSE_MS) : 0;
      await sleep(Math.max(refreshMs, pauseMs), undefined, { signal }).catch(() => undefined);
      if (this.#streams.size > 0) this.#watchedAtMs = performance.now();
    }
    this.#isWatching = false;
  }

  async #read(): Promise<Look> {
    const mark = this.#rates.markAt(Date.now());
    const glance = await this.#options.read({ after: mark?.newest ?? null });
    const speed = this.#rates.after(glance, mark);
    this.#latest = { glance, speed };
    return this.#latest;
  }

  #send(response: ServerResponse, look: Look): void {
    if (response.writableLength > MOST_UNREAD_BYTES) response.destroy();
    else response.write(`event: look\ndata: ${this.#options.message(look)}\n\n`);
  }

  #endAll(): void {
    for (const response of this.#streams.keys()) response.end();
  }
}

/** The last message: why, as the page shows it. */
function overMessage(why: string): string {
  return `event: over\ndata: ${why}\n\n`;
}

/** Waiting for a service that is away costs time and no work; whoever watches wants to know when it is back. */
function isWhole({ glance }: Look): boolean {
  return [glance.queues, glance.lanes, glance.store].every(({ kind }) => kind === "known");
}
