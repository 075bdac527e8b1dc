import { LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, MarkLineComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { SERIES } from "./plateau.ts";
import type { Vitals } from "./vitals.ts";

/** A fault, at its time. */
export interface Mark {
  readonly atSeconds: number;
  readonly name: string;
}

interface Panel {
  readonly title: string;
  readonly points: readonly (readonly [number, number | null])[];
}

const WIDTH = 1_080;
const COLUMNS = 2;
const PANEL_HEIGHT = 190;
const HEAD = 64;
const LEFT = 70;
const GAP = 60;
const LINE = "#2f6f8f";
const FAULT = "#c0764a";
const TEXT = "#444444";

/** A picture of the whole run: one panel a series, the faults as fine lines. */
export function plotOf(
  looks: readonly Vitals[],
  marks: readonly Mark[],
  { title }: { readonly title: string },
): string {
  use([LineChart, ScatterChart, GridComponent, MarkLineComponent, TitleComponent, SVGRenderer]);
  const panels = [rateOf(looks), ...SERIES.map(({ name, unit, of }) => panelOf(looks, { name, unit, of }))];
  const rows = Math.ceil(panels.length / COLUMNS);
  const chart = init(null, null, {
    renderer: "svg",
    ssr: true,
    width: WIDTH,
    height: HEAD + rows * PANEL_HEIGHT,
  });
  const lastMinute = Math.max(1, ...looks.map(({ atSeconds }) => Math.ceil(atSeconds / 60)));
  chart.setOption({
    animation: false,
    backgroundColor: "#ffffff",
    textStyle: { fontFamily: "sans-serif", color: TEXT },
    title: [
      { text: title, left: LEFT, top: 12, textStyle: { fontSize: 17, color: TEXT } },
      ...panels.map((panel, index) => ({
        text: panel.title,
        left: placeOf(index).left,
        top: placeOf(index).top - 24,
        textStyle: { fontSize: 13, fontWeight: "normal", color: TEXT },
      })),
    ],
    grid: panels.map((_, index) => placeOf(index)),
    xAxis: panels.map((_, index) => ({
      type: "value",
      gridIndex: index,
      min: 0,
      max: lastMinute,
      splitLine: { show: false },
      axisLabel: { formatter: (minute: number) => `${Math.round(minute * 10) / 10} min` },
    })),
    yAxis: panels.map((_, index) => ({ type: "value", gridIndex: index, min: 0, splitNumber: 3 })),
    series: panels.map((panel, index) => ({
      type: "line",
      xAxisIndex: index,
      yAxisIndex: index,
      showSymbol: false,
      lineStyle: { width: 1.5, color: LINE },
      data: panel.points,
      markLine: {
        silent: true,
        symbol: "none",
        label: { show: false },
        lineStyle: { color: FAULT, width: 0.8, type: "solid", opacity: 0.5 },
        data: marks.map(({ atSeconds }) => ({ xAxis: atSeconds / 60 })),
      },
    })),
  });
  const picture = chart.renderToSVGString();
  chart.dispose();
  return picture;
}

function placeOf(index: number): { left: number; top: number; width: number; height: number } {
  const width = (WIDTH - LEFT - COLUMNS * GAP) / COLUMNS;
  return {
    left: LEFT + (index % COLUMNS) * (width + GAP),
    top: HEAD + 28 + Math.floor(index / COLUMNS) * PANEL_HEIGHT,
    width,
    height: PANEL_HEIGHT - 78,
  };
}

function panelOf(
  looks: readonly Vitals[],
  { name, unit, of }: { name: string; unit: string; of: (look: Vitals) => number | null },
): Panel {
  return {
    title: unit === "" ? name : `${name} (${unit})`,
    points: looks.map((look) => [look.atSeconds / 60, of(look)]),
  };
}

/** Events acknowledged a second, between each look and the one before. */
function rateOf(looks: readonly Vitals[]): Panel {
  const points = looks.slice(1).map((look, index) => {
    const before = looks[index] ?? look;
    const seconds = Math.max(0.001, look.atSeconds - before.atSeconds);
    return [look.atSeconds / 60, (look.published - before.published) / seconds] as const;
  });
  return { title: "events published a second; fine lines: faults", points };
}
