import type { Definitions } from "./definition.ts";

/** A guard that is taken out of the model, and the promise that has to break for want of it. */
export interface Mutation {
  /** The model is checked with -DWITHOUT_<guard>. */
  readonly guard: string;
  /** What the guard sees to. */
  readonly says: string;
  /** The configuration in which it is missed; the promise holds there while the guard is in its place. */
  readonly within: string;
  /** A smaller part of that configuration in which the promise breaks, too, but sooner. */
  readonly narrowed?: Definitions;
  /** The promise that breaks. Progress is only looked at where it is `every_request_is_settled`. */
  readonly breaks: string;
}

export const PROGRESS = "every_request_is_settled";

export const MUTATIONS: readonly Mutation[] = [
  {
    guard: "ENTER_REFUSES",
    says: "enter takes no lane that another token holds",
    within: "calm",
    breaks: "own_token",
  },
  {
    guard: "HANDOFF_TOKEN",
    says: "handoff acts on its own token only",
    within: "one fault",
    breaks: "own_token",
  },
  {
    guard: "LEAVE_TOKEN",
    says: "leave acts on its own token only",
    within: "one fault",
    breaks: "own_token",
  },
  {
    guard: "RENEW_TOKEN",
    says: "renew acts on its own token only",
    within: "one fault",
    breaks: "own_token",
  },
  {
    guard: "RENEW_OF_A_LOCK",
    says: "renew never creates a lock",
    within: "one fault",
    breaks: "renewal_only_prolongs",
  },
  {
    guard: "KEEPING_THE_HEAD",
    says: "what is handed out stays in line until it is committed",
    within: "calm",
    breaks: "leaves_only_settled",
  },
  {
    guard: "REMOVAL_BY_KEY",
    says: "handoff removes by key, not by count",
    within: "one fault",
    narrowed: { KINDS: "RESENT" },
    breaks: "leaves_only_settled",
  },
  {
    guard: "ROW_BEFORE_WITHDRAWAL",
    says: "a withdrawn request has its row first",
    within: "one fault",
    breaks: "leaves_only_settled",
  },
  {
    guard: "ONE_PLACE",
    says: "a request that stands keeps its one place",
    within: "one fault",
    breaks: "one_place",
  },
  { guard: "CAP", says: "queue refuses beyond the cap", within: "a short line", breaks: "line_within_cap" },
  {
    guard: "HEAD_FIRST",
    says: "a turn serves the head of the line",
    within: "calm",
    breaks: "publish_order",
  },
  {
    guard: "INBOX",
    says: "the inbox recognises a repeat",
    within: "one fault",
    narrowed: { KINDS: "CRASH" },
    breaks: "at_most_once",
  },
  {
    guard: "ROW_LOCK",
    says: "one transaction of an order at a time",
    within: "one fault",
    narrowed: { KINDS: "LANE_LOST" },
    breaks: "decided_on_the_latest",
  },
  {
    guard: "ROW_BEFORE_END",
    says: "a job ends only once its event has a row",
    within: "one fault",
    breaks: "ends_after_row",
  },
  {
    guard: "LOOK_AT_BODIES",
    says: "a head without its body has the lane mended",
    within: "two faults",
    narrowed: { KINDS: "PART_LOST" },
    breaks: "handed_out_whole",
  },
  {
    guard: "LOOK_FOR_DOUBLES",
    says: "a head that stands twice has the lane mended",
    within: "two faults",
    narrowed: { KINDS: "PART_LOST" },
    breaks: "handed_out_once",
  },
  {
    guard: "KEEPING_OUTCOMES",
    says: "an outcome waits for a job that has not been fetched",
    within: "calm",
    breaks: "joins_once",
  },
  {
    guard: "WAITING_FOR_THE_WORD",
    says: "who finds its request gone waits for the word first",
    within: "slow words",
    breaks: "joins_once",
  },
  {
    guard: "CROSSING_WORD",
    says: "an outcome that crosses with a step back counts",
    within: "slow words",
    breaks: "joins_once",
  },
  { guard: "POLL", says: "behind every word stands a poll", within: "one fault", breaks: PROGRESS },
  { guard: "SWEEPER", says: "the sweeper serves what has no job", within: "one fault", breaks: PROGRESS },
  { guard: "LAPSE", says: "the lock of a vanished holder lapses", within: "one fault", breaks: PROGRESS },
  {
    guard: "MEND",
    says: "line and bodies that differ are made to match",
    within: "one fault",
    breaks: PROGRESS,
  },
  {
    guard: "HEALING",
    says: "what no script put there is dropped",
    within: "one fault",
    narrowed: { KINDS: "STRANGER" },
    breaks: PROGRESS,
  },
  {
    guard: "LEASE_FOR_STRANGERS",
    says: "a lock without a lease is given one",
    within: "one fault",
    narrowed: { KINDS: "STRANGER" },
    breaks: PROGRESS,
  },
  {
    guard: "JOINING",
    says: "a job whose request does not stand puts it in line",
    within: "one fault",
    breaks: PROGRESS,
  },
  {
    guard: "REDELIVERY",
    says: "the job of a dead worker comes again",
    within: "one fault",
    breaks: PROGRESS,
  },
  {
    guard: "ENTER_AGAIN",
    says: "enter takes up a lane that its own token holds",
    within: "nothing lapses",
    breaks: PROGRESS,
  },
  { guard: "WAKING_AT_YIELD", says: "yielding wakes a waiter", within: "words alone", breaks: PROGRESS },
  { guard: "WAKING_AT_LEAVE", says: "leaving wakes a waiter", within: "words alone", breaks: PROGRESS },
];

/** A guard without which everything that is promised still holds, because it saves time or work and nothing else. */
export interface Spare {
  readonly guard: string;
  readonly says: string;
  /** Why nothing breaks without it. */
  readonly why: string;
}

export const SPARES: readonly Spare[] = [
  {
    guard: "PASSING_WAKES_ON",
    says: "step-back at a free lane wakes the next waiter",
    why: "whoever stepped back has a job that comes again, and a poll finds the lane free",
  },
  {
    guard: "PASSING_OVER_THE_DEAD",
    says: "a wake passes over seats that nobody hears",
    why: "the job of whoever is gone comes again",
  },
  {
    guard: "CLEARING_EMPTY_SEATS",
    says: "a wake that meets an empty seat is passed on",
    why: "a poll, the next job or the sweeper finds the lane free",
  },
  {
    guard: "TAKING_OUTCOMES",
    says: "step-back takes an outcome that is there",
    why: "it stays, and the job finds it when it comes again",
  },
  {
    guard: "YIELDING_TO_THE_LIVING",
    says: "a turn is yielded only to a seat that is heard",
    why: "a lane left free for nobody is found by the next job, poll or sweep",
  },
  {
    guard: "CLEARING_THE_SEAT",
    says: "enter clears the seat of whoever takes the turn",
    why: "a wake for it meets nobody and is passed on",
  },
];

/** Small, and with every kind of misfortune. */
export const SPARED_WITHIN: Definitions = { REQUESTS: 2, FAULTS: 1 };
