import { html } from "../html.ts";
import type { Html } from "../html.ts";

const WIDTH = 120;
const HEIGHT = 24;

/** A row of values as a line, for those who see it; the number beside it says the same. */
export function sparkline(values: readonly number[]): Html {
  if (values.length < 2) return html``;
  const most = Math.max(...values, 1);
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * WIDTH;
    const y = HEIGHT - 1 - (value / most) * (HEIGHT - 2);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return html`<svg
    class="sparkline"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <polyline points="${points.join(" ")}" />
  </svg>`;
}
