import { setTimeout as pause } from "node:timers/promises";
import type { Stage } from "../stage.ts";

/** While answers of Postgres take so much longer, lanes are held and lines stand long enough to be hit. */
const SLOW_MS = 60;
const LINES_GROW_MS = 700;

/** Slows Postgres down, lets lines grow, acts, and lets Postgres be quick again. */
export async function withStandingLines<Result>(
  { workersPostgres }: Pick<Stage, "workersPostgres">,
  act: () => Promise<Result>,
): Promise<Result> {
  workersPostgres.delayMs(SLOW_MS);
  try {
    await pause(LINES_GROW_MS);
    return await act();
  } finally {
    workersPostgres.delayMs(0);
  }
}
