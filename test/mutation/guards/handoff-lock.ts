import type { Guard } from "./guard.ts";

/**
 * The lane as one process sees it.
 *
 * Left out, since taking it out only costs calls: renewals that keep away from a handoff under way, whose own call renews.
 * And one token for a whole wait, since a wait whose call went unanswered ends.
 */

const SRC = "packages/handoff-lock/src";
const LOCK = "test/handoff-lock/lock.test.ts";
const WAITING = "test/handoff-lock/waiting.test.ts";
const STRANGERS = "test/handoff-lock/strangers.test.ts";
const OUTAGE = "test/handoff-lock/outage.test.ts";

export const HANDOFF_LOCK_GUARDS: readonly Guard[] = [
  {
    promise: "a scan gives out each lane once",
    file: `${SRC}/lanes-on-redis.ts`,
    guard: "lcid === null || seen.has(lcid)",
    without: "lcid === null",
    tests: [{ file: "test/handoff-lock/line.test.ts", title: "scan finds every lane once" }],
  },
  {
    promise: "every turn has a token of its own",
    file: `${SRC}/lanes-on-redis.ts`,
    guard: "this.#tokens += 1;",
    without: "",
    tests: [{ file: LOCK, title: "no token is used twice" }],
  },
  {
    promise: "a healthy holder's turn is renewed",
    file: `${SRC}/leases.ts`,
    guard: "void this.#renew(lease)",
    without: "lease.deadlineMs()",
    tests: [{ file: LOCK, title: "renews far beyond the lease" }],
  },
  {
    promise: "a renewal that met another token ends the turn",
    file: `${SRC}/leases.ts`,
    guard: 'else this.lose(lease, "taken");',
    without: "",
    tests: [{ file: LOCK, title: "a renewal that finds another token stops that turn" }],
  },
  {
    promise: "a turn that was not renewed ends at its deadline",
    file: `${SRC}/leases.ts`,
    guard: 'if (lease.deadlineMs() <= nowMs) this.lose(lease, "deadline");',
    without: "",
    tests: [{ file: OUTAGE, title: "a turn ends at its deadline" }],
  },
  {
    promise: "a renewed lease counts from before its renewal was sent",
    file: `${SRC}/leases.ts`,
    guard: "lease.prove(sentAtMs)",
    without: "lease.prove(performance.now())",
    tests: [{ file: OUTAGE, title: "the deadline counts from before each successful step was sent" }],
  },
  {
    promise: "a lease that was handed on counts from before the handoff was sent",
    file: `${SRC}/held-turn.ts`,
    guard: "this.#lease.prove(sentAtMs)",
    without: "this.#lease.prove(performance.now())",
    tests: [{ file: OUTAGE, title: "the deadline counts from before each successful step was sent" }],
  },
  {
    promise: "a new lease counts from before the lane was asked for",
    file: `${SRC}/lanes-on-redis.ts`,
    guard: "new Lease({ lcid, token, startedAtMs, leaseMs })",
    without: "new Lease({ lcid, token, startedAtMs: performance.now(), leaseMs })",
    tests: [{ file: OUTAGE, title: "the deadline counts from before each successful step was sent" }],
  },
  {
    promise: "a turn's signal aborts when its lease is lost",
    file: `${SRC}/lease.ts`,
    guard: "this.#lostBecause = why;\n    this.#abort(why);",
    without: "this.#lostBecause = why;",
    tests: [{ file: LOCK, title: "a renewal that finds another token stops that turn" }],
  },
  {
    promise: "a signal that is looked at after the loss is aborted as well",
    file: `${SRC}/lease.ts`,
    guard: "if (this.#lostBecause !== null) this.#abort(this.#lostBecause);",
    without: "",
    tests: [{ file: LOCK, title: "a signal first looked at after the loss is aborted as well" }],
  },
  {
    promise: "a poll stands behind every word about a lane",
    file: `${SRC}/seats.ts`,
    guard: "if (nowMs - Math.max(lane.lastWordAtMs, lane.lastAskAtMs) >= pollMs) askNext(lane);",
    without: "",
    tests: [{ file: WAITING, title: "a waiter finds a lane that became free without a word" }],
  },
  {
    promise: "a waiter in a busy lane asks for its own outcome in the end",
    file: `${SRC}/seats.ts`,
    guard: 'else if (nowMs - seat.askedAtMs >= wordMs) seat.call({ kind: "ask" });',
    without: "",
    tests: [{ file: WAITING }],
  },
  {
    promise: "a waiter steps back from a lane that stands still",
    file: `${SRC}/seats.ts`,
    guard: "stillMs >= waitMs",
    without: "false",
    hangs: true,
    tests: [{ file: WAITING, title: "a waiter steps back once its lane has shown no progress" }],
  },
  {
    promise: "a waiter steps back from a lane that tells it nothing",
    file: `${SRC}/seats.ts`,
    guard: "silentMs >= wordMs",
    without: "false",
    tests: [{ file: WAITING, title: "but not for longer than wordMs" }],
  },
  {
    promise: "progress that only a poll sees keeps a waiter",
    file: `${SRC}/seats.ts`,
    guard: "lane.head = head;\n    lane.lastProgressAtMs = performance.now();",
    without: "lane.head = head;",
    tests: [{ file: WAITING, title: "progress that only a poll sees keeps a waiter" }],
  },
  {
    promise: "an outcome that crosses with a step back counts",
    file: `${SRC}/lanes-on-redis.ts`,
    guard: " ?? seat.outcome",
    without: "",
    tests: [{ file: WAITING, title: "is taken, so that a settled request does not stand" }],
  },
  {
    promise: "a wake that finds nobody is passed on",
    file: `${SRC}/seats.ts`,
    guard: 'if (word.kind === "wake") this.#onUnheardWake(word.lcid, word.key);',
    without: "",
    hangs: true,
    tests: [{ file: WAITING, title: "a wake for a seat that was just given up reaches somebody else" }],
  },
  {
    promise: "a poll that crosses its outcome does not put the request in line again",
    file: `${SRC}/lanes-on-redis.ts`,
    guard: "(!stood || absences > 0)",
    without: "true",
    tests: [{ file: WAITING, title: "a poll that crosses its outcome on the way" }],
  },
  {
    promise: "a turn that arrives for a cancelled wait is left again",
    file: `${SRC}/lanes-on-redis.ts`,
    guard: "seat.cancelled ? leaveInstead(result.turn) : result",
    without: "result",
    tests: [
      {
        file: "test/handoff-lock/cancelling.test.ts",
        title: "a turn that arrives while the signal fires is left again",
      },
    ],
  },
  {
    promise: "waiters ask at once when their subscription is back",
    file: `${SRC}/hints.ts`,
    guard: ".then(this.#onGap, () => {})",
    without: ".then(() => {}, () => {})",
    hangs: true,
    tests: [{ file: OUTAGE, title: "waiters ask at once when their subscription is back" }],
  },
  {
    promise: "a lane that was taken by an answer nobody waits for is given back",
    file: `${SRC}/lane-scripts.ts`,
    guard: "if (late) call.onLateReply?.(reply);",
    without: "if (late) return;",
    tests: [{ file: OUTAGE, title: "a lane taken by an answer that came too late is given back" }],
  },
  {
    promise: "every call ends within its limit",
    file: `${SRC}/lane-scripts.ts`,
    guard: "reject(new LaneUnavailableError({ command }));\n      }, this.#commandTimeoutMs)",
    without: "}, this.#commandTimeoutMs)",
    hangs: true,
    tests: [{ file: OUTAGE, title: "every call ends within its limit" }],
  },
  {
    promise: "a script that Redis has forgotten is sent again",
    file: `${SRC}/lane-scripts.ts`,
    guard: "ask === send && isUnknownScript(error)",
    without: "ask === sendWhole && isUnknownScript(error)",
    tests: [{ file: "test/handoff-lock/script-flush.test.ts", title: "every kind of call heals itself" }],
  },
  {
    promise: "a lane in which somebody else left something is healed",
    file: `${SRC}/lane-scripts.ts`,
    guard: "if (healed || !isStumble(error)) throw error;",
    without: "throw error;",
    tests: [{ file: STRANGERS, title: "something that no script puts there" }],
  },
  {
    promise: "an answer that no script gives is not believed",
    file: `${SRC}/lane-scripts.ts`,
    guard: "(call.isSound?.(reply) ?? true)",
    without: "reply !== null",
    tests: [{ file: STRANGERS, title: "something that no script puts there" }],
  },
  {
    promise: "closing leaves every turn that is still held",
    file: `${SRC}/lanes-on-redis.ts`,
    guard:
      'const leaving = this.#leases.loseAll("closed").map((lease) => this.#leave(lease.lcid, lease.token));',
    without: 'const leaving = this.#leases.loseAll("closed").map(() => Promise.resolve());',
    tests: [{ file: LOCK, title: "closing leaves every turn still held" }],
  },
  {
    promise: "a name that would leave its hash slot is refused",
    file: `${SRC}/lane-names.ts`,
    guard: 'typeof lcid !== "string" || !NAME.test(lcid)',
    without: 'typeof lcid !== "string"',
    tests: [{ file: "test/handoff-lock/line.test.ts", title: "is refused at the door" }],
  },
  {
    promise: "an operator frees the lane of the holder that was seen, and of no other",
    file: `${SRC}/lanes-on-redis.ts`,
    guard: "options?.holder ?? (await this.inspect(lcid)).holder",
    without: "(await this.inspect(lcid)).holder",
    tests: [{ file: LOCK, title: "an operator who names the holder frees its lane only" }],
  },
];
