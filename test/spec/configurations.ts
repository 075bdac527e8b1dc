import type { Definitions } from "./definition.ts";

/** A size of the model and the misfortunes it meets; everything that is promised has to hold in each. */
export interface Configuration {
  readonly name: string;
  /** What is special about it, as a sentence for README.md and the output. */
  readonly says: string;
  readonly define: Definitions;
  readonly progress: boolean;
  /** `short` belongs to every run, `usual` to all but the short one, `deep` only to the deep one. */
  readonly effort: "short" | "usual" | "deep";
}

const SHORT: readonly Configuration[] = [
  {
    name: "calm",
    says: "nothing goes wrong, and then no request joins the line a second time",
    define: { JOINS_ONCE: true },
    progress: true,
    effort: "short",
  },
  {
    name: "one fault",
    says: "one misfortune of any kind, at any moment",
    define: { FAULTS: 1 },
    progress: true,
    effort: "short",
  },
  {
    name: "two faults, two requests",
    says: "any two misfortunes, at any two moments",
    define: { REQUESTS: 2, FAULTS: 2 },
    progress: false,
    effort: "short",
  },
  {
    name: "words alone",
    says: "no poll, no sweeper: while nobody dies, words are enough, also when Postgres is in trouble",
    define: { WORKERS: 3, FAULTS: 1, KINDS: "TROUBLE", WITHOUT_POLL: true, WITHOUT_SWEEPER: true },
    progress: true,
    effort: "short",
  },
  {
    name: "nothing lapses",
    says: "scripts sent twice never cost a lease",
    define: { FAULTS: 2, KINDS: "RESENT", NOTHING_LAPSES: true },
    progress: true,
    effort: "short",
  },
  {
    name: "slow words",
    says: "a word that crosses with a poll or a step back costs no second place in line",
    define: { FAULTS: 1, KINDS: "WORD_SLOW", JOINS_ONCE: true },
    progress: true,
    effort: "short",
  },
];

const USUAL: readonly Configuration[] = [
  {
    name: "calm, four requests",
    says: "as calm, in a larger world",
    define: { WORKERS: 3, REQUESTS: 4, JOINS_ONCE: true },
    progress: true,
    effort: "usual",
  },
  {
    name: "one at a time",
    says: "batches of one request",
    define: { BATCH: 1, FAULTS: 1 },
    progress: true,
    effort: "usual",
  },
  {
    name: "local seats",
    says: "further jobs of a lane wait inside the process that serves it",
    define: { LOCAL_SEATS: true, FAULTS: 1 },
    progress: true,
    effort: "usual",
  },
  {
    name: "a bare job",
    says: "the first event comes as a job without a place in line",
    define: { PLAIN: 1, FAULTS: 1 },
    progress: true,
    effort: "usual",
  },
  {
    name: "a short line",
    says: "the publisher meets the cap",
    define: { CAP: 2, FAULTS: 1 },
    progress: true,
    effort: "usual",
  },
  {
    name: "four requests",
    says: "one misfortune, a longer line",
    define: { REQUESTS: 4, FAULTS: 1 },
    progress: false,
    effort: "usual",
  },
  {
    name: "three workers",
    says: "one misfortune, a third worker",
    define: { WORKERS: 3, FAULTS: 1 },
    progress: true,
    effort: "usual",
  },
  {
    name: "two faults",
    says: "any two misfortunes, at any two moments",
    define: { FAULTS: 2 },
    progress: false,
    effort: "usual",
  },
  {
    name: "two faults, progress",
    says: "any two misfortunes, and everything is settled all the same",
    define: { REQUESTS: 2, FAULTS: 2 },
    progress: true,
    effort: "usual",
  },
  {
    name: "three faults, two requests",
    says: "any three misfortunes, at any three moments",
    define: { REQUESTS: 2, FAULTS: 3 },
    progress: false,
    effort: "usual",
  },
];

const DEEP: readonly Configuration[] = [
  {
    name: "three faults",
    says: "any three of the misfortunes that befall processes and calls",
    define: { FAULTS: 3, KINDS: "CRASH+FREEZE+STALL+LOCK_LOST+RESENT+UNANSWERED+TROUBLE" },
    progress: false,
    effort: "deep",
  },
  {
    name: "three workers, four requests",
    says: "one misfortune in the largest world",
    define: { WORKERS: 3, REQUESTS: 4, FAULTS: 1 },
    progress: false,
    effort: "deep",
  },
  {
    name: "two faults, progress of three",
    says: "any two misfortunes, and all of three requests are settled",
    define: { FAULTS: 2 },
    progress: true,
    effort: "deep",
  },
];

export const CONFIGURATIONS: readonly Configuration[] = [...SHORT, ...USUAL, ...DEEP];
