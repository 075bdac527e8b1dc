import { count, printable } from "../printing.ts";
import { AFTER_LEASE_MS, LEASE_MS } from "./lease.ts";
import { span, type Line, type Tone } from "./paint.ts";
import type { Strike } from "./strike.ts";
import { isGood, type Verdict } from "./verdict.ts";

/** How a run went. */
export interface RunReport {
  readonly verdict: Verdict;
  /** From the first publish until nothing was left to do. */
  readonly seconds: number;
  readonly publishers: number;
  readonly strike: Strike | null;
  readonly movedAgainMs: number | null;
}

const LABEL_CELLS = 13;
const NUMBER_CELLS = 9;
const WRONG_SHOWN = 20;
const REASONS_SHOWN = 4;

/** The table at the end, for people. */
export function summaryLines(report: RunReport): readonly Line[] {
  const { verdict, seconds, publishers } = report;
  const { published, applied, duplicates, sentAgain, rejected, deferred, failed } = verdict;
  return [
    [],
    figure("published", published, `by ${publishers} publishers at once`),
    figure("applied", applied, ""),
    figure(
      "duplicates",
      duplicates,
      `${count(sentAgain)} sent again, ${count(duplicates - sentAgain)} the same fact under another id`,
    ),
    figure("rejected", rejected, reasonsOf(verdict.rejectedBy)),
    figure("deferred", deferred, deferred === 0 ? "" : `still held: ${reasonsOf(verdict.deferredBy)}`),
    figure("failed", failed, "", failed === 0 ? "plain" : "bad"),
    figure(
      "events/s",
      eventsPerSecond(report),
      `${seconds.toFixed(1)} s from the first publish until nothing was left to do`,
    ),
    [],
    check("lost", verdict.lost, "acknowledged, but without a row"),
    check("inversions", verdict.inversions, "decided before something published earlier"),
    check("drift", verdict.drift, "orders that differ from their history or from the reference"),
    [],
    ...healingLines(report),
    ...wrongLines(verdict.wrong),
    isGood(verdict)
      ? [
          span("  ✓ ", "good"),
          span(
            `${count(verdict.ordersChecked)} orders audited and compared with an independent reading of the rules: all as they must be`,
          ),
        ]
      : [span("  ✕ ", "bad"), span("this must not happen: see above", "bad")],
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

export function strikeNote(strike: Strike, lcid: string): string {
  const { victim, held, depth, inHands, first, last, committed } = strike;
  const who = `worker ${victim.number} (pid ${victim.pid})`;
  if (!held) return `SIGKILL to ${who}, which held the hot lane ${lcid} until a moment before`;
  return [
    `SIGKILL to ${who}, which holds the hot lane ${lcid}`,
    ...(first === null || last === null
      ? ["it had nothing in its hands"]
      : [
          `in its hands: ${count(inHands)} of ${count(depth)} requests in line,`,
          `from ${first.source} ${first.id} to ${last.source} ${last.id};`,
          committed === 0
            ? "none of them committed"
            : `${count(committed)} of them committed, which the next holder will notice`,
        ]),
    "its lock outlives it until the lease ends; until then the lane stands still",
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

function figure(name: string, value: number, remark: string, tone: Tone = "plain"): Line {
  return [
    span(`  ${name.padEnd(LABEL_CELLS)}`, "quiet"),
    span(count(value).padStart(NUMBER_CELLS), tone),
    span(remark === "" ? "" : `   ${remark}`, "quiet"),
  ];
}

function check(name: string, value: number, remark: string): Line {
  const isRight = value === 0;
  return [
    span(`  ${name.padEnd(LABEL_CELLS)}`, "quiet"),
    span(count(value).padStart(NUMBER_CELLS), isRight ? "good" : "bad"),
    span(` ${isRight ? "✓" : "✕"} `, isRight ? "good" : "bad"),
    span(remark, "quiet"),
  ];
}

function healingLines({ strike, movedAgainMs }: RunReport): readonly Line[] {
  if (strike === null) {
    return [
      [
        span(
          "  The hot lane was through before its holder could be found, so nobody was killed. Try a larger --burst.",
        ),
      ],
      [],
    ];
  }
  if (movedAgainMs === null) return [];
  const promisedMs = LEASE_MS + AFTER_LEASE_MS;
  return [
    [
      span(`  A worker was killed; its hot lane moved again after `),
      span(`${count(movedAgainMs)} ms`, movedAgainMs <= promisedMs ? "good" : "warning"),
      span(` (promised: ${count(promisedMs)} ms)`, "quiet"),
    ],
    [],
  ];
}

function wrongLines(wrong: readonly string[]): readonly Line[] {
  if (wrong.length === 0) return [];
  const more = wrong.length - WRONG_SHOWN;
  return [
    ...wrong.slice(0, WRONG_SHOWN).map((sentence) => [span(`  ${printable(sentence)}`, "bad")]),
    ...(more > 0 ? [[span(`  and ${count(more)} more`, "bad")]] : []),
    [],
  ];
}

function reasonsOf(counts: ReadonlyMap<string, number>): string {
  const all = [...counts].map(([reason, number]) => `${printable(reason)} ${count(number)}`);
  const more = all.length - REASONS_SHOWN;
  return [...all.slice(0, REASONS_SHOWN), ...(more > 0 ? [`${more} more reasons`] : [])].join(", ");
}
