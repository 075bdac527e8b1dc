const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const;
const HEIGHTS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

export interface Bar {
  readonly filled: string;
  readonly empty: string;
}

/** A bar in eighths of a cell, so that it creeps instead of jumping. Anything above nothing shows at least a sliver. */
export function barOf(share: number, cells: number): Bar {
  const bounded = Math.min(1, Math.max(0, share));
  const eighths = bounded > 0 ? Math.max(1, Math.floor(bounded * cells * 8)) : 0;
  const part = EIGHTHS[eighths % 8] ?? "";
  const filled = "█".repeat(Math.floor(eighths / 8)) + part;
  return { filled, empty: "░".repeat(Math.max(0, cells - filled.length)) };
}

/** A small curve of the latest values, oldest first, against the highest of them. */
export function curveOf(values: readonly number[], cells: number): string {
  const shown = values.slice(-cells);
  const highest = Math.max(1, ...shown);
  return shown.map((value) => HEIGHTS[Math.min(7, Math.floor((value / highest) * 8))] ?? "▁").join("");
}
