import type { Run } from "../results.ts";

const PROMISES = ["inversions", "lost", "doubled"] as const;

/** A sentence for each of Junban's own rows and each promise that it did not keep. Others may break what they like. */
export function brokenPromises({ workload, results }: Run<unknown>): readonly string[] {
  return (results as readonly Readonly<Record<string, unknown>>[]).flatMap((row) => {
    // Workloads that measure Junban alone give their rows no name.
    const { name = "junban" } = row;
    if (typeof name !== "string" || !name.startsWith("junban")) return [];
    return PROMISES.flatMap((promise) => {
      const count = row[promise];
      return typeof count === "number" && count > 0
        ? [`${workload}: ${name} broke a promise: ${promise} ${count}`]
        : [];
    });
  });
}
