import { hasPassed, type RunReport } from "./run.ts";

/** The line a script reads. */
export function jsonOf(report: RunReport): object {
  return { ...report, passed: hasPassed(report) };
}

const COLUMNS: readonly { readonly name: string; readonly of: (report: RunReport) => string }[] = [
  { name: "fault", of: ({ fault }) => fault },
  { name: "strikes", of: ({ faultsInjected }) => String(faultsInjected) },
  { name: "published", of: ({ published }) => String(published) },
  { name: "applied", of: ({ applied }) => String(applied) },
  { name: "lost", of: ({ lost }) => String(lost) },
  { name: "doubled", of: ({ doubleApplied }) => String(doubleApplied) },
  {
    name: "inversions",
    of: ({ inversions, orderPromised }) => (orderPromised ? String(inversions) : `(${inversions})`),
  },
  { name: "drift", of: ({ drift }) => String(drift) },
  { name: "recovered", of: ({ recoveredMs }) => (recoveredMs === null ? "never" : secondsOf(recoveredMs)) },
  { name: "bound", of: ({ boundMs }) => secondsOf(boundMs) },
  { name: "", of: (report) => (hasPassed(report) ? "ok" : "FAILED") },
];

/** One line a fault. Inversions stand in parentheses where the fault takes the line itself, so that none can be promised. */
export function tableOf(reports: readonly RunReport[]): readonly string[] {
  const rows = [
    COLUMNS.map(({ name }) => name),
    ...reports.map((report) => COLUMNS.map(({ of }) => of(report))),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

function secondsOf(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
