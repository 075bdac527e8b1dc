import {
  bandsOf,
  drawn,
  figureBeside,
  heightOf,
  INK,
  legendOf,
  MARGIN,
  namesOf,
  roomFor,
  titlesOf,
  WIDTH,
} from "./canvas.ts";
import type { Look } from "./looks.ts";

export interface Range {
  readonly label: string;
  /** In milliseconds, one for each mark of the picture, ascending. */
  readonly values: readonly number[];
  /** Written beside the last mark. */
  readonly says: string;
  readonly look: Look;
}

export interface RangeGroup {
  readonly title: string;
  readonly ranges: readonly Range[];
}

export interface RangePicture {
  readonly title: string;
  readonly says: string;
  /** The names of the marks, such as p50, p90, p99; at most three. */
  readonly marks: readonly string[];
  readonly groups: readonly RangeGroup[];
}

const SYMBOLS = ["circle", "diamond", "rect"] as const;
const LEAST_MS = 0.1;
/** Below the last row, for the times. */
const AXIS = 26;

const COLOURS: Readonly<Record<Look, string>> = {
  own: INK.own,
  peer: "#6f8792",
  broken: INK.fault,
  ceiling: INK.quiet,
  open: INK.fault,
};

/** A line a row from the first mark to the last, on a logarithmic scale: positions are compared here, and not lengths. */
export function rangesOf(picture: RangePicture): string {
  const groups = picture.groups.filter(({ ranges }) => ranges.length > 0);
  const all = groups.flatMap(({ ranges }) => ranges);
  const bands = bandsOf(
    groups.map(({ title, ranges }) => ({ title, rows: ranges.length })),
    { hasLegend: true },
  );
  const left = MARGIN + roomFor(all.map(({ label }) => label));
  const width = WIDTH - left - MARGIN - 8 - roomFor(all.map(({ says }) => says));
  const isMixed = all.some(({ look }) => look !== "own");
  const scale = scaleOf(all);
  return drawn(
    {
      title: titlesOf(picture, bands),
      legend: legendOf(
        picture.marks.map((name, index) => ({ name, icon: SYMBOLS[index] ?? "circle" })),
        { itemWidth: 11, itemHeight: 11, itemStyle: { color: INK.text } },
      ),
      grid: bands.map(({ top, height }) => ({ left, top, width, height })),
      xAxis: groups.map((_, gridIndex) => ({
        type: "log",
        gridIndex,
        ...scale,
        axisLabel: {
          show: gridIndex === groups.length - 1,
          formatter: timeOf,
          fontSize: 12,
          color: INK.quiet,
        },
        axisLine: { show: false },
        axisTick: { show: false },
        minorSplitLine: { show: false },
        splitLine: { lineStyle: { color: INK.rule } },
      })),
      yAxis: groups.map(({ ranges }, index) =>
        namesOf(
          ranges.map(({ label, look }) => ({ label, isBold: isMixed && look === "own" })),
          index,
        ),
      ),
      series: groups.flatMap((group, index) => [
        ...group.ranges.map((range, row) => lineOf(range, { index, row })),
        ...picture.marks.map((name, mark) =>
          marksOf(group, { index, mark, name, isLast: mark === picture.marks.length - 1, isMixed }),
        ),
      ]),
    },
    heightOf(bands) + AXIS,
  );
}

/** From the power of ten below to the one above. */
function scaleOf(ranges: readonly Range[]): { readonly min: number; readonly max: number } {
  const values = ranges.flatMap((range) => range.values.map(shown));
  return {
    min: 10 ** Math.floor(Math.log10(Math.min(...values))),
    max: 10 ** Math.ceil(Math.log10(Math.max(...values) * 1.01)),
  };
}

/** A logarithm knows no zero. */
function shown(milliseconds: number | undefined): number {
  return Math.max(LEAST_MS, milliseconds ?? LEAST_MS);
}

function lineOf({ values, look }: Range, at: { readonly index: number; readonly row: number }): object {
  return {
    type: "line",
    xAxisIndex: at.index,
    yAxisIndex: at.index,
    showSymbol: false,
    silent: true,
    lineStyle: { width: 2.5, color: COLOURS[look], opacity: 0.55 },
    data: [values[0], values.at(-1)].map((value) => [shown(value), at.row]),
  };
}

interface MarkPlace {
  readonly index: number;
  readonly mark: number;
  readonly name: string;
  readonly isLast: boolean;
  readonly isMixed: boolean;
}

function marksOf({ ranges }: RangeGroup, at: MarkPlace): object {
  return {
    type: "scatter",
    name: at.name,
    xAxisIndex: at.index,
    yAxisIndex: at.index,
    symbol: SYMBOLS[at.mark] ?? "circle",
    symbolSize: at.mark === 1 ? 11 : 9,
    silent: true,
    data: ranges.map(({ values, says, look }, row) => ({
      value: [shown(values[at.mark]), row],
      itemStyle: { color: COLOURS[look], opacity: 1 },
      label: at.isLast ? figureBeside(says, at.isMixed && look === "own") : { show: false },
    })),
  };
}

function timeOf(milliseconds: number): string {
  return milliseconds >= 1_000 ? `${milliseconds / 1_000} s` : `${milliseconds} ms`;
}
