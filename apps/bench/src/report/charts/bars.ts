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
import { MEANINGS, type Look } from "./looks.ts";

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Written beside it. */
  readonly says: string;
  readonly look: Look;
}

export interface BarGroup {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface BarPicture {
  readonly title: string;
  /** A line below the title: unit, and which way is better. */
  readonly says: string;
  readonly groups: readonly BarGroup[];
}

const STYLES: Readonly<Record<Look, object>> = {
  own: { color: INK.own },
  peer: { color: INK.peer },
  broken: {
    color: "#f3ddcf",
    borderColor: INK.fault,
    borderWidth: 1,
    decal: { color: INK.fault, dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 },
  },
  ceiling: { color: INK.ceiling },
  open: { color: INK.ground, borderColor: INK.fault, borderWidth: 1.5, borderType: "dashed" },
};

/** Horizontal bars from zero, so that lengths can be compared by eye, with the figure beside each. */
export function barsOf(picture: BarPicture): string {
  const groups = picture.groups.filter(({ bars }) => bars.length > 0);
  const all = groups.flatMap(({ bars }) => bars);
  const looks = (Object.keys(MEANINGS) as Look[]).filter((look) => all.some((bar) => bar.look === look));
  const isMixed = looks.length > 1;
  const bands = bandsOf(
    groups.map(({ title, bars }) => ({ title, rows: bars.length })),
    { hasLegend: isMixed },
  );
  const left = MARGIN + roomFor(all.map(({ label }) => label));
  const longest = Math.max(...all.map(({ value }) => value), Number.MIN_VALUE);
  const width = widthFor(all, { longest, room: WIDTH - left - MARGIN });
  return drawn(
    {
      title: titlesOf(picture, bands),
      legend: legendOf(looks.map((look) => ({ name: MEANINGS[look] }))),
      grid: bands.map(({ top, height }) => ({ left, top, width, height })),
      xAxis: groups.map((_, gridIndex) => ({ type: "value", gridIndex, show: false, min: 0, max: longest })),
      yAxis: groups.map(({ bars }, index) =>
        namesOf(
          bars.map(({ label, look }) => ({ label, isBold: isMixed && look === "own" })),
          index,
        ),
      ),
      series: groups.flatMap((group, index) =>
        looks.map((look) => seriesOf(group, { index, look, isMixed })),
      ),
    },
    heightOf(bands),
  );
}

/** As wide as it can be while every figure still finds its place behind its bar. */
function widthFor(
  bars: readonly Bar[],
  { longest, room }: { readonly longest: number; readonly room: number },
): number {
  return Math.min(
    room,
    ...bars.map(({ value, says }) => (room - 8 - roomFor([says])) / Math.max(value / longest, 0.001)),
  );
}

/** The bars of one look; where the row has another look there is a hole, which the series of that look fills. */
function seriesOf(
  { bars }: BarGroup,
  at: { readonly index: number; readonly look: Look; readonly isMixed: boolean },
): object {
  return {
    type: "bar",
    name: MEANINGS[at.look],
    xAxisIndex: at.index,
    yAxisIndex: at.index,
    barGap: "-100%",
    barWidth: 15,
    silent: true,
    itemStyle: STYLES[at.look],
    data: bars.map(({ value, says, look }) =>
      look === at.look ? { value, label: figureBeside(says, at.isMixed && look === "own") } : null,
    ),
  };
}
