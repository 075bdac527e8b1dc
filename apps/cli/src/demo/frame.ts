import { count } from "../printing.ts";
import { barOf, curveOf } from "./bars.ts";
import { fitted, span, type Line, type Span, type Tone } from "./paint.ts";
import { clock, type Scene } from "./scene.ts";

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

const WIDEST = 100;
/** Below this there is room for numbers only. */
const NARROW = 48;
const LABEL_CELLS = 12;
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

function progressLines(scene: Scene, width: number): readonly Line[] {
  const { published, toPublish, toDecide, reading, rates } = scene;
  const rate = `${count(Math.round(rates.at(-1) ?? 0))} events/s`;
  const curveCells = Math.max(0, Math.min(30, width - LABEL_CELLS - 2 - rate.length - 3));
  return [
    progressLine("published", { done: published, all: toPublish }, width),
    progressLine("decided", { done: reading?.decided ?? 0, all: toDecide }, width),
    [
      label("speed"),
      ...(width < NARROW ? [] : [span(curveOf(rates, curveCells).padStart(curveCells), "bar"), span("  ")]),
      span(rate),
    ],
  ];
}

function progressLine(name: string, { done, all }: { done: number; all: number }, width: number): Line {
  const widest = count(all).length;
  const numbers = `${count(done).padStart(widest)} of ${count(all)}`;
  return [
    label(name),
    ...barSpans(done / Math.max(1, all), width - LABEL_CELLS - 4 - numbers.length, "bar"),
    span(numbers),
  ];
}

function statusLines({ reading, orders }: Scene, width: number): readonly Line[] {
  return STATUSES.map(({ name, tone }) => {
    const found = reading?.summary.ordersByStatus[name] ?? 0;
    const number = count(found).padStart(count(orders).length);
    const cells = width - STATUS_LABEL_CELLS - 4 - number.length;
    return [
      span(`  ${name.replaceAll("_", " ").padEnd(STATUS_LABEL_CELLS)}`, "quiet"),
      ...barSpans(found / Math.max(1, orders), cells, tone),
      span(number),
    ];
  });
}

/** Nothing where there is no room, so that the number still fits. */
function barSpans(share: number, cells: number, tone: Tone): readonly Span[] {
  if (cells < 5) return [];
  const { filled, empty } = barOf(share, cells);
  return [span(filled, tone), span(empty, "quiet"), span("  ")];
}

function factLines({ reading, hotLcid, crew }: Scene): readonly Line[] {
  const outcomes = reading?.summary.eventsByOutcome ?? {};
  const failed = outcomes["failed"] ?? 0;
  return [
    [label("hot lane"), ...laneSpans(reading?.lane ?? null, hotLcid)],
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
  const lease = `held, lease ends in ${(Math.max(0, lane.leaseLeftMs) / 1_000).toFixed(1)} s`;
  return [
    span(`${count(lane.depth)} in line`),
    span(` of ${hotLcid}, ${lane.holder === null ? "free" : lease}`, "quiet"),
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
