import type { Backlog } from "@junban/operations";
import { count, counted } from "./printing.ts";

export function describeBacklog({ waiting, active, delayed, standing, due }: Backlog): string {
  const parts = [
    [waiting, `${counted(waiting, "job")} waiting`],
    [active, `${count(active)} active`],
    [delayed, `${count(delayed)} delayed`],
    [standing, `${counted(standing, "request")} in lanes`],
    [due, `${counted(due, "order")} with due deferrals`],
  ] as const;
  const left = parts.filter(([number]) => number > 0).map(([, said]) => said);
  return left.length === 0 ? "nothing" : left.join(", ");
}
