import { BarChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import { init, use, type EChartsCoreOption } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

/** The colours of every picture: told apart in grey and by those who see no red or green, on a ground of their own. */
export const INK = {
  ground: "#ffffff",
  text: "#333333",
  quiet: "#6b6b6b",
  rule: "#e2e2e2",
  own: "#2f6f8f",
  peer: "#8fb0c0",
  fault: "#c0764a",
  ceiling: "#c6c6c6",
} as const;

export const WIDTH = 900;
/** Title and subtitle. */
const HEAD = 62;
const LEGEND = 28;
/** Above each group of rows that has a title. */
const GROUP_HEAD = 26;
const GAP = 14;
/** What stands before each text of a legend. */
const ICON = 36;
const ROW = 26;
export const MARGIN = 24;

/** A little more than a letter of the size of labels takes in the fonts that `sans-serif` may stand for. */
const LETTER = 7;

/** Room for the widest of these texts, in pixels. */
export function roomFor(texts: readonly string[]): number {
  return Math.ceil(Math.max(0, ...texts.map((text) => text.length)) * LETTER) + 12;
}

export interface Band {
  readonly title: string;
  readonly top: number;
  readonly height: number;
}

/** Where the rows of each group stand, below one another. */
export function bandsOf(
  groups: readonly { readonly title: string; readonly rows: number }[],
  { hasLegend }: { readonly hasLegend: boolean },
): readonly Band[] {
  let top = HEAD + (hasLegend ? LEGEND : 0);
  return groups.map(({ title, rows }) => {
    top += title === "" ? 0 : GROUP_HEAD;
    const band = { title, top, height: rows * ROW };
    top += band.height + GAP;
    return band;
  });
}

/** What a picture needs in height for its bands. */
export function heightOf(bands: readonly Band[]): number {
  const last = bands.at(-1);
  return (last === undefined ? HEAD : last.top + last.height) + MARGIN;
}

/** The titles of a picture and of its groups, as every picture has them. */
export function titlesOf(
  { title, says }: { readonly title: string; readonly says: string },
  bands: readonly Band[],
): readonly object[] {
  return [
    {
      text: title,
      subtext: says,
      left: MARGIN - 5,
      top: 10,
      itemGap: 6,
      textStyle: { fontSize: 17, color: INK.text },
      subtextStyle: { fontSize: 12, color: INK.quiet },
    },
    ...bands
      .filter((band) => band.title !== "")
      .map((band) => ({
        text: band.title,
        left: MARGIN - 5,
        top: band.top - 23,
        textStyle: { fontSize: 13, fontWeight: "bold", color: INK.text },
      })),
  ];
}

/** A legend in one line. Each entry is a legend of its own, in the room that its text may need: fonts differ. */
export function legendOf(
  entries: readonly { readonly name: string; readonly icon?: string }[],
  look: object = {},
): readonly object[] {
  if (entries.length < 2) return [];
  const rooms = entries.map(({ name }) => ICON + roomFor([name]));
  return entries.map((entry, index) => ({
    data: [entry],
    left: MARGIN - 5 + rooms.slice(0, index).reduce((sum, room) => sum + room, 0),
    top: HEAD - 2,
    selectedMode: false,
    textStyle: { fontSize: 12, color: INK.text },
    ...look,
  }));
}

/** The axis of names, as every picture has it: downwards, without ticks. */
export function namesOf(
  rows: readonly { readonly label: string; readonly isBold: boolean }[],
  gridIndex: number,
): object {
  return {
    type: "category",
    gridIndex,
    inverse: true,
    axisTick: { show: false },
    axisLine: { onZero: false, lineStyle: { color: INK.quiet } },
    axisLabel: { interval: 0, fontSize: 12 },
    data: rows.map(({ label, isBold }) => ({
      value: label,
      textStyle: { color: INK.text, fontWeight: isBold ? "bold" : "normal" },
    })),
  };
}

/** The figure beside a bar or a mark. */
export function figureBeside(says: string, isBold: boolean): object {
  return {
    show: true,
    position: "right",
    distance: 8,
    // Braces would be taken for a template.
    formatter: says.replaceAll(/[{}]/g, ""),
    color: INK.text,
    fontSize: 12,
    fontWeight: isBold ? "bold" : "normal",
  };
}

/** The picture as an SVG document. The same option always gives the same text. */
export function drawn(option: EChartsCoreOption, height: number): string {
  use([BarChart, LineChart, ScatterChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  chart.setOption({
    animation: false,
    backgroundColor: INK.ground,
    textStyle: { fontFamily: "sans-serif", color: INK.text },
    ...option,
  });
  const picture = chart.renderToSVGString();
  chart.dispose();
  return `${steady(picture)}\n`;
}

/**
 * Without what only a browser that follows the mouse would use, which is also numbered through the life of a process and
 * so would make each drawing differ from the last; and with text moved down by hand, since not every renderer knows of
 * baselines in the middle.
 */
function steady(picture: string): string {
  return picture
    .replaceAll(/<style[^>]*>.*?<\/style>\s*/gs, "")
    .replaceAll(/ (?:class="zr\d+-cls-\d+"|ecmeta_\w+="[^"]*"|pointer-events="\w+")/g, "")
    .replaceAll(/\bzr\d+-/g, "zr-")
    .replaceAll('dominant-baseline="central"', 'dy="0.35em"');
}
