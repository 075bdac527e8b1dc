import { printable } from "@junban/operations";
import { isGood, type Verdict } from "@junban/trial";
import { count } from "../printing.ts";
import { AFTER_LEASE_MS, LEASE_MS } from "./lease.ts";
import { span, wrapped, type Line, type Tone } from "./paint.ts";
import type { Strike } from "./strike.ts";

/** How a run went. */
export interface RunReport {
  readonly verdict: Verdict;
  /** From the first publish until nothing was left to do. */
  readonly seconds: number;
  readonly publishers: number;
  readonly strike: Strike | null;
  /** Null when nobody was killed, or nothing was left in the lane that could have moved. */
  readonly movedAgainMs: number | null;
}

const MARGIN = "  ";
const LABEL_CELLS = 11;
const NUMBER_CELLS = 9;
const REMARK_AT = MARGIN.length + LABEL_CELLS + NUMBER_CELLS + 3;
const WRONG_SHOWN = 20;
/** A space at which no line is broken. */
const NO_BREAK = "\u00A0";

/** The table at the end, for people. */
export function summaryLines(report: RunReport, columns: number): readonly Line[] {
  return [
    [],
    ...figureLines(report, columns - REMARK_AT - 1),
    [],
    ...promiseLines(report.verdict, columns - REMARK_AT - 1),
    [],
    ...healingLines(report, columns),
    [],
    ...wrongLines(report.verdict.wrong),
    ...lastWord(report.verdict, columns),
    [],
  ];
}

/** The one line for scripts. */
export function jsonOf(report: RunReport): Readonly<Record<string, number>> {
  const { published, applied, duplicates, rejected, deferred, failed, lost, inversions, drift } =
    report.verdict;
  return {
    published,
    applied,
    duplicates,
    rejected,
    deferred,
    failed,
    lost,
    inversions,
    drift,
    seconds: Math.round(report.seconds * 100) / 100,
    eventsPerSecond: eventsPerSecond(report),
  };
}

export function strikeNote(
  { victim, held, depth, inHands, first, firstIsCommitted }: Strike,
  lcid: string,
): string {
  const who = `SIGKILL to worker ${victim.number} (pid ${victim.pid})`;
  if (!held) return `${who}, which held the hot lane of order ${lcid} until a moment before`;
  const hands =
    first === null
      ? ["nothing stood in the lane"]
      : [
          `in its hands: the first ${count(inHands)} of ${count(depth)} requests in line`,
          `the very first: ${first.type} ${first.id}, ${firstIsCommitted ? "committed, but still in line" : "not committed"}`,
        ];
  return [
    `${who}, which holds the hot lane of order ${lcid}`,
    ...hands,
    "its lock stays until the lease ends; until then this lane stands still",
  ].join("\n");
}

export function healingNote(movedAgainMs: number | null): string {
  return movedAgainMs === null
    ? "nothing was left in the hot lane that could have moved"
    : `the hot lane moves again, ${count(movedAgainMs)} ms after the kill`;
}

function eventsPerSecond({ verdict, seconds }: RunReport): number {
  return Math.round(verdict.published / Math.max(0.001, seconds));
}

function figureLines(report: RunReport, cells: number): readonly Line[] {
  const { verdict, seconds, publishers } = report;
  const { published, applied, duplicates, sentAgain, rejected, deferred, failed } = verdict;
  const figures: readonly [string, number, string, Tone][] = [
    ["published", published, `by ${publishers} publishers side by side`, "plain"],
    ["applied", applied, "", "plain"],
    [
      "duplicates",
      duplicates,
      `${count(sentAgain)} sent again, ${count(duplicates - sentAgain)} the same fact under another id`,
      "plain",
    ],
    ["rejected", rejected, reasonsOf(verdict.rejectedBy), "plain"],
    ["deferred", deferred, deferred === 0 ? "" : `still held: ${reasonsOf(verdict.deferredBy)}`, "plain"],
    ["failed", failed, "", failed === 0 ? "plain" : "bad"],
    ["events/s", eventsPerSecond(report), `${seconds.toFixed(1)} s from first publish to idle`, "plain"],
  ];
  return figures.flatMap(([name, value, remark, tone]) => {
    const [first = "", ...more] = wrapped(remark, cells);
    return [
      [...labelled(name, value, tone), span(first === "" ? "" : `   ${first}`, "quiet")],
      ...more.map((text) => [span(`${" ".repeat(REMARK_AT)}${text}`, "quiet")]),
    ];
  });
}

function promiseLines({ lost, inversions, drift }: Verdict, cells: number): readonly Line[] {
  const promises: readonly [string, number, string][] = [
    ["lost", lost, "acknowledged, but without a row"],
    ["inversions", inversions, "decided before one published earlier"],
    ["drift", drift, "orders unlike their history or the reference"],
  ];
  return promises.map(([name, value, remark]) => {
    const tone = value === 0 ? "good" : "bad";
    return [
      ...labelled(name, value, tone),
      span(value === 0 ? " ✓ " : " ✕ ", tone),
      span(remark.slice(0, Math.max(0, cells)), "quiet"),
    ];
  });
}

function labelled(name: string, value: number, tone: Tone): Line {
  return [
    span(`${MARGIN}${name.padEnd(LABEL_CELLS)}`, "quiet"),
    span(count(value).padStart(NUMBER_CELLS), tone),
  ];
}

function healingLines({ strike, movedAgainMs }: RunReport, columns: number): readonly Line[] {
  if (strike === null) {
    const why =
      "The hot lane was through before its holder could be found, so no worker was killed. Try a larger --burst.";
    return sentence(why, { columns, tone: "warning" });
  }
  if (movedAgainMs === null) return sentence(healingNote(movedAgainMs), { columns, tone: "plain" });
  const promisedMs = LEASE_MS + AFTER_LEASE_MS;
  const text = `One worker was killed. Its hot lane moved again after ${count(movedAgainMs)} ms; promised are ${count(promisedMs)}.`;
  return sentence(text, { columns, tone: movedAgainMs <= promisedMs ? "plain" : "warning" });
}

function wrongLines(wrong: readonly string[]): readonly Line[] {
  if (wrong.length === 0) return [];
  const more = wrong.length - WRONG_SHOWN;
  return [
    ...wrong.slice(0, WRONG_SHOWN).map((text) => [span(`${MARGIN}${printable(text)}`, "bad")]),
    ...(more > 0 ? [[span(`${MARGIN}and ${count(more)} more`, "bad")]] : []),
    [],
  ];
}

function lastWord(verdict: Verdict, columns: number): readonly Line[] {
  return isGood(verdict)
    ? sentence(
        `✓ ${count(verdict.ordersChecked)} orders audited, and compared with an independent second reading of the rules: all as they must be.`,
        { columns, tone: "good" },
      )
    : sentence("✕ This must not happen. What is wrong is listed above.", { columns, tone: "bad" });
}

function sentence(text: string, { columns, tone }: { columns: number; tone: Tone }): readonly Line[] {
  return wrapped(text, columns - MARGIN.length - 1).map((piece) => [span(`${MARGIN}${piece}`, tone)]);
}

function reasonsOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([reason, number]) => `${printable(reason)}${NO_BREAK}${count(number)}`).join(", ");
}
