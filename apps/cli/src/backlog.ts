import type { Backlog } from "@junban/operations";
import { count } from "./printing.ts";

export function describeBacklog({ waiting, active, delayed, standing, due }: Backlog): string {
  const parts = [
    [waiting, "jobs waiting"],
    [active, "active"],
    [delayed, "delayed"],
    [standing, "requests in lanes"],
    [due, "orders with due deferrals"],
  ] as const;
  const left = parts.filter(([number]) => number > 0).map(([number, what]) => `${count(number)} ${what}`);
  return left.length === 0 ? "nothing" : left.join(", ");
}
