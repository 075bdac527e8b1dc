import { runStatement } from "./statements.ts";

/**
 * Clears what no longer counts, freezes the rest, takes statistics and writes everything to the files: a database that was filled
 * in one go is then as one that has long been there. Copies of it are so from the start.
 */
export async function vacuumDatabase(databaseUrl: string): Promise<void> {
  await runStatement(databaseUrl, "VACUUM (FREEZE, ANALYZE)");
  await runStatement(databaseUrl, "CHECKPOINT");
}
