import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kysely, Migrator, PostgresDialect, sql, type Migration } from "kysely";
import pg from "pg";
import { OutboxConnectionError, OutboxMigrationError } from "./errors.ts";

const FOLDER = fileURLToPath(new URL("../migrations", import.meta.url));
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Installs the outbox in the producer's database, or brings it up to date: everything lies in the schema `junban_upstream`. Twice,
 * or twice at once, is harmless, and so is doing it from an older version than the one that was there last. Answers with the names
 * of the migrations it applied. When one failed, nothing of the set is kept.
 *
 * @throws {OutboxMigrationError}
 * @throws {OutboxConnectionError}
 */
export async function migrateUpstream({
  databaseUrl,
}: {
  readonly databaseUrl: string;
}): Promise<readonly string[]> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 2,
    lock_timeout: LOCK_TIMEOUT_MS,
    connectionTimeoutMillis: 5_000,
  });
  pool.on("error", () => undefined);
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await reach(pool);
    const migrator = new Migrator({
      db: kysely,
      provider: { getMigrations: readMigrations },
      migrationTableSchema: "junban_upstream",
      migrationTableName: "migrations",
      migrationLockTableName: "migration_lock",
    });
    const isPending = (await migrator.getMigrations()).some(({ executedAt }) => executedAt === undefined);
    // Migrations only add, so an older version has what it needs. The migrator would call what it does not know a corruption.
    if (!isPending) return [];
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw new OutboxMigrationError({ cause: error });
    return results.map(({ migrationName }) => migrationName);
  } finally {
    await kysely.destroy();
  }
}

/** The migrator would blame its first migration for a server that is not there. */
async function reach(pool: pg.Pool): Promise<void> {
  try {
    (await pool.connect()).release();
  } catch (error) {
    throw new OutboxConnectionError({ cause: error });
  }
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).toSorted();
  const entries = await Promise.all(
    files.map(async (name): Promise<[string, Migration]> => {
      const text = await readFile(join(FOLDER, name), "utf8");
      return [
        name.replace(/\.sql$/u, ""),
        { up: async (kysely) => void (await sql.raw(text).execute(kysely)) },
      ];
    }),
  );
  return Object.fromEntries(entries);
}
