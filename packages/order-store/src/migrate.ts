import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kysely, Migrator, PostgresDialect, sql, type Migration, type MigrationProvider } from "kysely";
import pg from "pg";
import { ConnectionLostError, MigrationError, SchemaBehindError } from "./errors.ts";

/** The migrations of this checkout, beside the packages. */
const FOLDER = fileURLToPath(new URL("../../../migrations", import.meta.url));
/** A migration that waits longer than this for a table gives up, so that events flow on behind it. */
const LOCK_TIMEOUT_MS = 5_000;

export interface MigrationReport {
  /** Names of the migrations that this call applied, in order; empty when there was nothing to do. */
  readonly applied: readonly string[];
}

export interface MigrationStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** Folder of `NNNN_name.sql` files; default: this checkout's `migrations/`. */
  readonly folder?: string;
  /** Milliseconds to wait for a table that somebody else uses; default 5000. */
  readonly lockTimeoutMs?: number;
}

/**
 * Brings the schema up to date, all pending migrations in one transaction. Running it twice, or twice at once, is harmless.
 * Throws MigrationError when a migration failed; nothing of the set is kept then.
 */
export async function migrate(options: MigrateOptions): Promise<MigrationReport> {
  return withMigrator(options, async (migrator) => {
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) {
      const failed = results?.find(({ status }) => status === "Error");
      throw new MigrationError({ migration: failed?.migrationName ?? null }, { cause: error });
    }
    return {
      applied: (results ?? [])
        .filter(({ status }) => status === "Success")
        .map(({ migrationName }) => migrationName),
    };
  });
}

/** Which migrations stand and which are pending. Changes nothing. */
export async function migrationStatus(options: MigrateOptions): Promise<MigrationStatus> {
  return withMigrator(options, async (migrator) => {
    const migrations = await migrator.getMigrations();
    return {
      applied: migrations.filter(({ executedAt }) => executedAt !== undefined).map(({ name }) => name),
      pending: migrations.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name),
    };
  });
}

/** @throws {SchemaBehindError} when migrations of this build are pending. */
export async function refuseOldSchema(options: MigrateOptions): Promise<void> {
  const { pending } = await migrationStatus(options);
  if (pending.length > 0) throw new SchemaBehindError({ pending });
}

async function withMigrator<Result>(
  { databaseUrl, folder = FOLDER, lockTimeoutMs = LOCK_TIMEOUT_MS }: MigrateOptions,
  work: (migrator: Migrator) => Promise<Result>,
): Promise<Result> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 2,
    lock_timeout: lockTimeoutMs,
    connectionTimeoutMillis: 5_000,
  });
  pool.on("error", () => undefined);
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await reach(pool);
    return await work(
      new Migrator({
        db: kysely,
        provider: sqlFiles(folder),
        migrationTableName: "junban_migrations",
        migrationLockTableName: "junban_migration_lock",
      }),
    );
  } finally {
    await kysely.destroy();
  }
}

/** The migrator would blame its first migration for a server that is not there. */
async function reach(pool: pg.Pool): Promise<void> {
  try {
    (await pool.connect()).release();
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw error;
    throw new ConnectionLostError({ cause: error });
  }
}

/** Each file is one migration, run as it stands. There is no way down: a mistake is corrected by the next file. */
function sqlFiles(folder: string): MigrationProvider {
  return {
    getMigrations: async () => {
      const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
      const migrations = await Promise.all(
        files.map(async (name) => [name.replace(/\.sql$/u, ""), await migrationIn(join(folder, name))]),
      );
      return Object.fromEntries(migrations) as Record<string, Migration>;
    },
  };
}

async function migrationIn(file: string): Promise<Migration> {
  const text = await readFile(file, "utf8");
  return {
    up: async (kysely) => {
      await sql.raw(text).execute(kysely);
    },
  };
}
