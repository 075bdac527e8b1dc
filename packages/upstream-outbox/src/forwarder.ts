import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import { Bell } from "./bell.ts";
import { TooManyFullLanesError } from "./errors.ts";
import { OutboxSession } from "./outbox-session.ts";
import type { Backlog } from "./outbox-session.ts";
import { RestingLanes } from "./resting-lanes.ts";
import { verdictsOf } from "./verdicts.ts";
import type { EventSink, ParkedRow, Verdicts, WaitingRow } from "./verdicts.ts";

/** Told in this process when rows were read, when the publisher has answered for them, and when that was marked. */
const READ = channel("junban.forward.read");
const PUBLISHED = channel("junban.forward.published");
const MARKED = channel("junban.forward.marked");

const STANDBY_MS = 1_000;
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_PRUNE_INTERVAL_MS = 60_000;
const DAY_MS = 86_400_000;

/** The least and the most that a number among the options may be. */
const RANGES = {
  pollMs: [1, 600_000],
  leaseMs: [100, 300_000],
  batch: [1, 1_000],
  keepMs: [1, 3_650 * DAY_MS],
} as const;

export interface ForwardObserver {
  /** Rows were published and marked. */
  forwarded(rows: readonly { readonly lcid: string; readonly ageSeconds: number }[]): void;
  parked(row: ParkedRow): void;
  /** Something stands in the way for now; told when it begins, not at each attempt. */
  trouble(error: unknown): void;
}

export interface ForwarderOptions {
  /** The producer's database. A pooler in between must be of sessions: the lead and the listening are a session's. */
  readonly databaseUrl: string;
  /** Lent; whoever made it closes it, after the forwarder. */
  readonly publisher: EventSink;
  /** How long an unheard commit may wait, milliseconds. Default 1,000; 1 to 600,000. */
  readonly pollMs?: number;
  /** Silence after which Postgres ends this forwarder's session and another may lead, milliseconds. Default 10,000; 100 to 300,000. */
  readonly leaseMs?: number;
  /** Rows read and published at once, each of up to 128 KiB. Default 256; 1 to 1,000. */
  readonly batch?: number;
  /** How long forwarded rows are kept, milliseconds. Default 7 days; up to ten years. */
  readonly keepMs?: number;
  readonly observer?: ForwardObserver;
}

export interface ForwarderState {
  /** `standby`: another forwarder leads. */
  readonly role: "connecting" | "standby" | "active" | "stopped";
  /** Code of what stands in the way at present. */
  readonly trouble: string | null;
}

export interface Forwarder {
  state(): ForwarderState;
  /** What the outbox holds; null without a connection. */
  backlog(): Promise<Backlog | null>;
  /** Finishes what was read, gives up the lead and ends. May be called twice. */
  close(): Promise<void>;
}

/** Connects, and goes on doing so until it is closed. @throws {AssertionError} for an option out of its range. */
export function createForwarder(options: ForwarderOptions): Forwarder {
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = options[name as keyof typeof RANGES];
    const isFit = value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most);
    assert(isFit, `${name}: a whole number from ${least} to ${most}`);
  }
  return new OutboxForwarder(options);
}

/**
 * 1. Leads, or waits until it may: of all forwarders of a database one is active.
 * 2. Reads the first rows that are not marked, publishes them, marks them; then the next. Whatever is lost in between is done again,
 *    and the publisher recognises what it has.
 * 3. Passes over the rows of a lane that is full, and waits when nobody takes anything.
 * 4. Deletes what was forwarded long ago.
 */
class OutboxForwarder implements Forwarder {
  readonly #options: Required<Omit<ForwarderOptions, "observer">>;
  readonly #observer: ForwardObserver | undefined;
  readonly #bell = new Bell();
  readonly #resting = new RestingLanes();
  readonly #running: Promise<void>;
  #session: OutboxSession | null = null;
  #role: ForwarderState["role"] = "connecting";
  #trouble: string | null = null;
  #pauseMs = SHORTEST_PAUSE_MS;
  #prunesAtMs = 0;
  #isClosing = false;

  constructor({ observer, ...options }: ForwarderOptions) {
    this.#options = { pollMs: 1_000, leaseMs: 10_000, batch: 256, keepMs: 7 * DAY_MS, ...options };
    this.#observer = observer;
    this.#running = this.#run();
  }

  state(): ForwarderState {
    return { role: this.#role, trouble: this.#trouble };
  }

  async backlog(): Promise<Backlog | null> {
    return (await this.#session?.backlog().catch(() => null)) ?? null;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#bell.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      try {
        await this.#serve();
      } catch (error) {
        this.#role = "connecting";
        await this.#pause(error);
      }
    }
    this.#role = "stopped";
  }

  /** Until it is closed or something fails. Either gives up the lead at once, so that another may have it meanwhile. */
  async #serve(): Promise<void> {
    const { databaseUrl, leaseMs } = this.#options;
    const session = await OutboxSession.open({ databaseUrl, leaseMs, onNews: () => this.#bell.ring() });
    this.#session = session;
    try {
      while (!this.#isClosing && !(await session.lead())) {
        this.#role = "standby";
        this.#ease();
        // Every commit rings here as well, and a lead is not given up more often for that.
        await this.#sleep(STANDBY_MS);
      }
      while (!this.#isClosing) {
        this.#role = "active";
        await this.#round(session);
      }
    } finally {
      this.#session = null;
      await session.close();
    }
  }

  async #round(session: OutboxSession): Promise<void> {
    const { batch, publisher } = this.#options;
    this.#bell.still();
    const passedOver = this.#resting.resting();
    const rows = await session.waiting({ limit: batch, without: passedOver });
    if (rows.length === 0) {
      // While lanes rest, nobody has asked yet whether what stood in the way is over.
      if (passedOver.length === 0) this.#ease();
      if (!(await this.#pruneWhenDue(session)) && !this.#isClosing) await this.#bell.wait(this.#quietMs());
      return;
    }
    tell(READ, rows);
    const verdicts = verdictsOf(rows, await publisher.publishAll(rows.map(({ event }) => event)));
    tell(PUBLISHED, rows);
    await session.settle(verdicts);
    tell(MARKED, rows);
    const trouble = this.#note(verdicts);
    if (trouble !== null) await this.#pause(trouble);
    else this.#ease();
    await this.#pruneWhenDue(session);
  }

  /** Answers with what keeps everything waiting, if anything does. */
  #note({ forwarded, parked, unwilling, outage }: Verdicts): Error | null {
    for (const { lcid } of forwarded) this.#resting.served(lcid);
    let trouble: Error | null = outage ?? null;
    for (const lcid of unwilling) {
      if (!this.#resting.rest(lcid)) trouble ??= new TooManyFullLanesError();
    }
    if (forwarded.length > 0) this.#observer?.forwarded(forwarded);
    for (const row of parked) this.#observer?.parked(row);
    return trouble;
  }

  async #pruneWhenDue(session: OutboxSession): Promise<boolean> {
    const { keepMs } = this.#options;
    const nowMs = performance.now();
    if (nowMs < this.#prunesAtMs) return false;
    // Set before asking: where the database refuses this, forwarding goes on and the refusal is told once a minute.
    this.#prunesAtMs = nowMs + Math.min(keepMs, LONGEST_PRUNE_INTERVAL_MS);
    const isMore = await session.prune({ keepMs });
    if (isMore) this.#prunesAtMs = nowMs;
    return isMore;
  }

  #quietMs(): number {
    return Math.max(1, Math.min(this.#options.pollMs, this.#resting.nextInMs() ?? Infinity));
  }

  #ease(): void {
    this.#trouble = null;
    this.#pauseMs = SHORTEST_PAUSE_MS;
  }

  /** Longer each time, until something works again. */
  async #pause(error: unknown): Promise<void> {
    const code = codeOf(error);
    if (code !== this.#trouble) this.#observer?.trouble(error);
    this.#trouble = code;
    await this.#sleep(this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** The whole time, whoever rings, unless it is the end. */
  async #sleep(limitMs: number): Promise<void> {
    const endsAtMs = performance.now() + limitMs;
    while (!this.#isClosing) {
      const leftMs = endsAtMs - performance.now();
      if (leftMs <= 0) return;
      await this.#bell.wait(leftMs);
    }
  }
}

function tell(moment: typeof READ, rows: readonly WaitingRow[]): void {
  if (moment.hasSubscribers) moment.publish(rows.map(({ id }) => id));
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "UNKNOWN";
}
