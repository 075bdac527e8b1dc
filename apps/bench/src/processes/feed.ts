import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ground } from "../contenders/contender.ts";

/** Holds how many events are done, as digits. */
export const DONE_FILE = "done";

/** Named after the round's database, which nobody else has. */
export function feedFolder({ databaseUrl }: Pick<Ground, "databaseUrl">): string {
  const database = new URL(databaseUrl).pathname.slice(1);
  return join(tmpdir(), `junban-bench-${database}`);
}

/** Files are numbered from 1 and read in that order. */
export function feedFile(folder: string, number: number): string {
  return join(folder, `${number}.ndjson`);
}
