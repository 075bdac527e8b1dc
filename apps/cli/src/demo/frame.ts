import { count } from "../printing.ts";
import { barOf, curveOf } from "./bars.ts";
import { fitted, span, type Line, type Span, type Tone } from "./paint.ts";
import { clock, type Scene } from "./scene.ts";

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

const WIDEST = 100;
const SHORTEST_BAR = 8;
const LABEL_CELLS = 14;
const STATUS_LABEL_CELLS = 19;
/** Lines of a full frame; a lower terminal gets one without the statuses. */
const FULL_ROWS = 22;

const STATUSES: readonly { name: string; tone: Tone }[] = [
  { name: "awaiting_placement", tone: "quiet" },
  { name: "placed", tone: "bar" },
  { name: "confirmed", tone: "bar" },
  { name: "in_fulfilment", tone: "bar" },
  { name: "completed", tone: "good" },
  { name: "cancel_requested", tone: "warning" },
  { name: "cancelled", tone: "warning" },
];

/** Draws one look at the run. Every frame of one terminal size has the same height, so that nothing jumps. */
export function drawFrame(scene: Scene, { columns, rows }: FrameSize): readonly Line[] {
  // The last column stays free: some terminals break the line when it is written.
  const width = Math.min(columns, WIDEST) - 1;
  const statuses = rows >= FULL_ROWS ? [...statusLines(scene, width), []] : [];
  return [[], ...progressLines(scene, width), [], ...statuses, ...factLines(scene), [], doingLine(scene)].map(
    (line) => fitted(line, width),
  );
}

function progressLines(
  { published, toPublish, toDecide, reading, rates }: Scene,
  width: number,
): readonly Line[] {
  const all = count(toPublish).length;
  const numbers = (done: number, of: number): string =>
    `${count(done).padStart(all)} of ${count(of).padStart(all)}`;
  const decided = reading?.decided ?? 0;
  const shown = numbers(published, toPublish);
  const rate = `${count(Math.round(rates.at(-1) ?? 0))} events/s`.padStart(shown.length);
  const cells = barCells(width - LABEL_CELLS - shown.length);
  return [
    [label("published"), ...barSpans(published / toPublish, cells), span(shown)],
    [label("decided"), ...barSpans(decided / toDecide, cells), span(numbers(decided, toDecide))],
    [
      label("speed"),
      ...(cells > 0 ? [span(curveOf(rates, cells).padEnd(cells), "bar"), span("  ")] : []),
      span(rate),
    ],
  ];
}

function statusLines({ reading, orders }: Scene, width: number): readonly Line[] {
  return STATUSES.map(({ name, tone }) => {
    const found = reading?.summary.ordersByStatus[name] ?? 0;
    const number = count(found).padStart(count(orders).length);
    const cells = barCells(width - STATUS_LABEL_CELLS - number.length);
    const { filled } = barOf(found / orders, cells);
    return [
      span(`  ${name.replaceAll("_", " ").padEnd(STATUS_LABEL_CELLS)}`, "quiet"),
      ...(cells > 0 ? [span(filled.padEnd(cells), tone), span("  ")] : []),
      span(number),
    ];
  });
}

/** Cells left for a bar beside its label, its number and the margins; none where it would be a stump. */
function barCells(left: number): number {
  const cells = left - 4;
  return cells < SHORTEST_BAR ? 0 : cells;
}

function barSpans(share: number, cells: number): readonly Span[] {
  if (cells === 0) return [];
  const { filled, empty } = barOf(share, cells);
  return [span(filled, "bar"), span(empty, "quiet"), span("  ")];
}

function factLines({ reading, hotLcid, crew }: Scene): readonly Line[] {
  const outcomes = reading?.summary.eventsByOutcome ?? {};
  const failed = outcomes["failed"] ?? 0;
  return [
    // The hot order's: its burst makes it the deepest one by far.
    [label("deepest lane"), ...laneSpans(reading?.lane ?? null, hotLcid)],
    [
      label("held"),
      span(count(outcomes["deferred"] ?? 0)),
      span(" wait for an event that has not come yet", "quiet"),
    ],
    [
      label("rejected"),
      span(count(outcomes["rejected"] ?? 0)),
      span(" against the rules", "quiet"),
      ...(failed > 0 ? [span(`   ${count(failed)} failed`, "bad")] : []),
    ],
    [label("workers"), ...crew.flatMap((member) => crewSpans(member))],
  ];
}

function laneSpans(
  lane: { depth: number; holder: string | null; leaseLeftMs: number } | null,
  hotLcid: string,
): readonly Span[] {
  if (lane === null) return [span("–", "quiet")];
  const lease = `held, ${(Math.max(0, lane.leaseLeftMs) / 1_000).toFixed(1)} s of the lease left`;
  return [
    span(`${count(lane.depth)} in line`),
    span(` for order ${hotLcid}; ${lane.holder === null ? "free" : lease}`, "quiet"),
  ];
}

function crewSpans({ number, pid, state }: { number: number; pid: number; state: string }): readonly Span[] {
  if (state === "at work") return [span("● ", "good"), span(`${number} `), span(`pid ${pid}   `, "quiet")];
  return [span("✕ ", "bad"), span(`${number} `), span(`${state}   `, "quiet")];
}

function doingLine({ doing, elapsedMs }: Scene): Line {
  return [span(`  ${clock(elapsedMs)}  `, "strong"), span(doing)];
}

function label(name: string): Span {
  return span(`  ${name.padEnd(LABEL_CELLS)}`, "quiet");
}
