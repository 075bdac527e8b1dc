import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type {
  Entry,
  LaneReport,
  LaneRequest,
  Lanes,
  LanesOptions,
  LaneView,
  QueueEntry,
  QueueResult,
  Settlement,
  Standing,
  Turn,
} from "./contract.ts";
import { LaneUnavailableError } from "./errors.ts";
import { HeldTurn } from "./held-turn.ts";
import { Hints } from "./hints.ts";
import { checkLaneName, laneOfKey, lanePattern } from "./lane-names.ts";
import { LaneScripts } from "./lane-scripts.ts";
import { Lease } from "./lease.ts";
import { Leases } from "./leases.ts";
import {
  asArray,
  isRequestKey,
  isSoundEnter,
  readEnter,
  readReport,
  readStepBack,
  readView,
} from "./replies.ts";
import type { Seat } from "./seat.ts";
import { Seats } from "./seats.ts";
import type { Settings } from "./settings.ts";
import { readSettings } from "./settings.ts";

/** Connects when somebody first waits, keeps trying as long as it takes, and leaves subscribing to us. */
const SUBSCRIBER_OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  autoResubscribe: false,
} as const;

/** Each request of a page may bring a whole event. */
const MOST_SHOWN = 256;

interface Attempt {
  readonly lcid: string;
  readonly token: string;
  /** Null for maintenance, which brings no request. */
  readonly key: string | null;
  readonly body?: string;
  /** Whether somebody stays to hear what becomes of the request. */
  readonly listens: boolean;
}

type AttemptResult =
  | { readonly kind: "turn"; readonly turn: Turn }
  | { readonly kind: "settled"; readonly value: string }
  | { readonly kind: "waiting"; readonly position: number; readonly head: string }
  /** The request is not standing, and its body is wanted. */
  | { readonly kind: "absent" };

/** Lanes on one Redis. Owns one subscription and one renewal timer, whatever the number of lanes. */
export function createLanes(options: LanesOptions): Lanes {
  return new LanesOnRedis(options);
}

/** Ties the owners together: scripts ask Redis, leases keep turns alive, seats wait, hints shorten the waiting. */
class LanesOnRedis implements Lanes {
  readonly #settings: Settings;
  readonly #scripts: LaneScripts;
  readonly #leases: Leases;
  readonly #seats: Seats;
  readonly #hints: Hints;
  readonly #channel: string;
  readonly #onStepBack: LanesOptions["onStepBack"];
  readonly #instance = randomBytes(12).toString("base64url");
  #tokens = 0;
  #hasListened = false;
  #closing: Promise<void> | null = null;

  constructor(options: LanesOptions) {
    const settings = readSettings(options);
    const { redis } = options;
    this.#settings = settings;
    this.#onStepBack = options.onStepBack;
    this.#channel = `${settings.prefix}:words:${this.#instance}`;
    this.#scripts = new LaneScripts({ redis, onHealed: options.onHealed, ...settings });
    this.#leases = new Leases({ scripts: this.#scripts, onLeaseLost: options.onLeaseLost, ...settings });
    this.#seats = new Seats({
      settings,
      // A seat without anybody in it swallowed this wake: clear it away, which wakes the next one.
      onUnheardWake: (lcid, key) => this.#clearSeat(lcid, key),
    });
    this.#hints = new Hints({
      subscriber: options.subscriber ?? redis.duplicate(SUBSCRIBER_OPTIONS),
      owned: options.subscriber === undefined,
      channel: this.#channel,
      onWord: (word) => this.#seats.hear(word),
      onGap: () => this.#seats.missed(),
    });
  }

  async queue(lcid: string, requests: readonly LaneRequest[]): Promise<QueueResult> {
    this.#mustBeOpen("queue");
    checkLaneName(lcid);
    const { cap, laneTtlMs } = this.#settings;
    const args: (string | number)[] = [cap, laneTtlMs];
    for (const { key, body } of requests) {
      checkKey(key);
      args.push(key, body);
    }
    const [queued, depth] = asArray(await this.#scripts.run("queue", { lcid, args })).map(Number);
    return queued === 1 ? { kind: "queued", depth: depth ?? 0 } : { kind: "full", depth: depth ?? 0, cap };
  }

  async queueMany(entries: readonly QueueEntry[]): Promise<readonly (QueueResult | Error)[]> {
    const lcids = new Set(entries.map(({ lcid }) => lcid));
    assert(lcids.size === entries.length, "one entry a lane, so that its order is certain");
    return Promise.all(
      entries.map(({ lcid, requests }) =>
        this.queue(lcid, requests).catch((error: unknown) =>
          error instanceof Error ? error : new Error(String(error)),
        ),
      ),
    );
  }

  async stand(lcid: string, request: LaneRequest, { signal }: { signal: AbortSignal }): Promise<Standing> {
    checkLaneName(lcid);
    checkKey(request.key);
    if (signal.aborted || this.#closing !== null) return { kind: "cancelled" };
    if (!this.#hints.subscribed) await this.#listen();
    const seat = this.#seats.take(lcid, request.key, signal);
    try {
      return await this.#waitInLine(seat, request);
    } catch (error) {
      if (seat.cancelled && error instanceof LaneUnavailableError) return { kind: "cancelled" };
      throw error;
    } finally {
      this.#seats.release(seat);
    }
  }

  async enter(lcid: string, request?: LaneRequest): Promise<Entry> {
    this.#mustBeOpen("enter");
    checkLaneName(lcid);
    if (request !== undefined) checkKey(request.key);
    const attempt = { lcid, token: this.#nextToken(), key: request?.key ?? null, listens: false };
    let result = await this.#attempt(attempt);
    if (result.kind === "absent") result = await this.#attempt({ ...attempt, body: request?.body ?? "" });
    assert(result.kind !== "absent", "a request with its body joins the line");
    return result.kind === "waiting" ? { kind: "waiting", position: result.position } : result;
  }

  async withdraw(lcid: string, { key, value }: Settlement): Promise<boolean> {
    this.#mustBeOpen("withdraw");
    checkLaneName(lcid);
    checkKey(key);
    const args = [key, value, this.#settings.laneTtlMs];
    return Number(await this.#scripts.run("withdraw", { lcid, args })) === 1;
  }

  async inspect(lcid: string): Promise<LaneReport> {
    this.#mustBeOpen("inspect");
    checkLaneName(lcid);
    return readReport(lcid, await this.#scripts.run("inspect", { lcid, args: [0, 0] }));
  }

  async show(
    lcid: string,
    { skip = 0, limit }: { readonly skip?: number; readonly limit: number },
  ): Promise<LaneView> {
    this.#mustBeOpen("inspect");
    checkLaneName(lcid);
    assert(Number.isSafeInteger(skip) && skip >= 0, "skip is a whole number from 0");
    assert(Number.isSafeInteger(limit) && limit >= 1 && limit <= MOST_SHOWN, "limit is 1 to 256");
    return readView(lcid, await this.#scripts.run("inspect", { lcid, args: [skip, limit] }));
  }

  /** Drops the lock it saw, so that sending it twice cannot drop the lock of whoever came next. */
  async free(lcid: string, options?: { readonly holder: string }): Promise<boolean> {
    const holder = options?.holder ?? (await this.inspect(lcid)).holder;
    if (holder === null) return false;
    const args = [holder, this.#settings.laneTtlMs];
    return Number(await this.#scripts.run("leave", { lcid, args })) === 1;
  }

  async *scan(): AsyncIterable<readonly string[]> {
    const { prefix } = this.#settings;
    // The keys of one lane come on different pages, and SCAN may hand out a key twice.
    const seen = new Set<string>();
    let cursor = "0";
    do {
      this.#mustBeOpen("scan");
      const [next, keys] = await this.#scripts.scanPage(cursor, lanePattern(prefix));
      const lcids: string[] = [];
      for (const key of keys) {
        const lcid = laneOfKey(prefix, key);
        if (lcid === null || seen.has(lcid)) continue;
        seen.add(lcid);
        lcids.push(lcid);
      }
      if (lcids.length > 0) yield lcids;
      cursor = next;
    } while (cursor !== "0");
  }

  async sweepOutcomes(lcid: string, olderThanMs: number): Promise<number> {
    this.#mustBeOpen("sweep-outcomes");
    checkLaneName(lcid);
    let cursor = "0";
    let deleted = 0;
    do {
      const reply = await this.#scripts.run("sweep-outcomes", { lcid, args: [cursor, olderThanMs] });
      const [next, count] = asArray(reply);
      cursor = String(next);
      deleted += Number(count);
    } while (cursor !== "0");
    return deleted;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#seats.cancelAll();
    this.#hints.close();
    const leaving = this.#leases.loseAll("closed").map((lease) => this.#leave(lease.lcid, lease.token));
    await Promise.allSettled(leaving);
  }

  async #waitInLine(seat: Seat, request: LaneRequest): Promise<Standing> {
    const { lcid, key } = seat;
    // One token for the whole wait: if an answer was lost on the way, the next attempt takes up what it had taken.
    const token = this.#nextToken();
    let absences = 0;
    let stood = false;
    for (;;) {
      this.#seats.asking(seat);
      let result = await this.#attempt({ lcid, token, key, listens: true });
      // A request that stood and is gone was just settled, and its outcome is on its way to this process by the other
      // connection. Only when it is still missing the next time does it join the line again.
      if (result.kind === "absent" && (!stood || absences > 0)) {
        result = await this.#attempt({ lcid, token, key, body: request.body, listens: true });
      }
      if (result.kind === "settled") return result;
      if (result.kind === "turn") return seat.cancelled ? leaveInstead(result.turn) : result;
      if (result.kind === "waiting") this.#seats.noteHead(lcid, result.head);
      absences = result.kind === "absent" ? absences + 1 : 0;
      stood = true;
      const call = await seat.next();
      if (call.kind === "settled") return call;
      if (call.kind !== "ask") return this.#stepBack(seat, call.kind);
    }
  }

  async #stepBack(seat: Seat, why: "giveUp" | "cancelled"): Promise<Standing> {
    const { lcid, key } = seat;
    const reply = await this.#scripts.run("step-back", { lcid, args: [key, this.#channel] });
    // A word that came meanwhile counts as well, or a settled request would stand in line once more.
    const value = readStepBack(reply) ?? seat.outcome;
    if (value !== null) return { kind: "settled", value };
    if (why === "cancelled") return { kind: "cancelled" };
    this.#onStepBack?.(lcid);
    return { kind: "steppedBack" };
  }

  async #attempt(attempt: Attempt): Promise<AttemptResult> {
    const { lcid, token, key, body, listens } = attempt;
    const { leaseMs, laneTtlMs, batch } = this.#settings;
    const args = [token, leaseMs, laneTtlMs, batch, listens ? this.#channel : "", key ?? ""];
    if (body !== undefined) args.push(body);
    const startedAtMs = performance.now();
    const onLateReply = (late: unknown): void => this.#undo(attempt, late);
    const call = { lcid, args, onLateReply, isSound: isSoundEnter };
    const reply = readEnter(await this.#scripts.run("enter", call));
    if (reply.kind !== "turn") return reply;
    if (this.#closing !== null) {
      await this.#leave(lcid, token);
      throw new LaneUnavailableError({ command: "enter" });
    }
    const lease = new Lease({ lcid, token, startedAtMs, leaseMs });
    const { tries, requests } = reply;
    return {
      kind: "turn",
      turn: new HeldTurn({
        scripts: this.#scripts,
        leases: this.#leases,
        settings: this.#settings,
        lease,
        tries,
        requests,
      }),
    };
  }

  /** Gives back what an attempt took after its caller had stopped waiting for the answer. */
  #undo({ lcid, token, key, listens }: Attempt, late: unknown): void {
    const reply = readEnter(late);
    if (reply.kind === "turn") void this.#leave(lcid, token);
    else if (reply.kind === "waiting" && listens && key !== null) this.#clearSeat(lcid, key);
  }

  async #leave(lcid: string, token: string): Promise<void> {
    const args = [token, this.#settings.laneTtlMs];
    // Unanswered, the lock goes by itself when the lease lapses.
    await this.#scripts.run("leave", { lcid, args }).catch(() => {});
  }

  /** Gives up a seat in which nobody sits any more, and leaves the outcome, if there is one, to the job that comes for it. */
  #clearSeat(lcid: string, key: string): void {
    this.#scripts.run("step-back", { lcid, args: [key, this.#channel, "leave"] }).catch(() => {});
  }

  /** The first to come wait for the subscription, but not for long: without it a wait is slower, never wrong. */
  async #listen(): Promise<void> {
    const subscribing = this.#hints.subscribe();
    if (this.#hasListened) return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#settings.commandTimeoutMs);
    });
    await Promise.race([subscribing, limit]);
    clearTimeout(timer);
    this.#hasListened = true;
  }

  #nextToken(): string {
    this.#tokens += 1;
    return `${this.#instance}.${this.#tokens.toString(36)}`;
  }

  #mustBeOpen(command: string): void {
    if (this.#closing !== null) throw new LaneUnavailableError({ command });
  }
}

async function leaveInstead(turn: Turn): Promise<Standing> {
  await turn.leave();
  return { kind: "cancelled" };
}

function checkKey(key: string): void {
  assert(isRequestKey(key), "a request key has 1 to 128 visible characters of ASCII");
}
