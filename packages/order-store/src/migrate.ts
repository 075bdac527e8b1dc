import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kysely, Migrator, PostgresDialect, sql, type Migration, type MigrationProvider } from "kysely";
import pg from "pg";
import { ConnectionLostError, MigrationError, SchemaBehindError } from "./errors.ts";

/** The migrations of this checkout, beside the packages. */
const FOLDER = fileURLToPath(new URL("../../../migrations", import.meta.url));
/**
 * A migration that waits longer than this for a table gives up, so that events flow on behind it. Shorter than a worker's
 * own patience (`JUNBAN_LOCK_TIMEOUT_MS`), so that whoever queues up behind the migration merely waits.
 */
const LOCK_TIMEOUT_MS = 1_000;

const MIGRATION_TABLE = "junban_migrations";

export interface MigrationReport {
  /** Names of the migrations that this call applied, in order; empty when there was nothing to do. */
  readonly applied: readonly string[];
  /** Names of migrations that stand and that this build does not know: a newer one has been here. */
  readonly ahead: readonly string[];
}

export interface MigrationStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Names of migrations that stand and that this build does not know: a newer one has been here. */
  readonly ahead: readonly string[];
}

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** Folder of `NNNN_name.sql` files; default: this checkout's `migrations/`. */
  readonly folder?: string;
  /** Milliseconds to wait for a table that somebody else uses; default 1000. */
  readonly lockTimeoutMs?: number;
}

/**
 * Brings the schema up to date, all pending migrations in one transaction. Running it twice, or twice at once, is harmless,
 * and so is running it from an older build than the schema's.
 * Throws MigrationError when a migration failed; nothing of the set is kept then.
 */
export async function migrate(options: MigrateOptions): Promise<MigrationReport> {
  const { lockTimeoutMs = LOCK_TIMEOUT_MS } = options;
  return withMigrator(options, async (migrator, pool) => {
    const { pending, ahead } = await statusOf(migrator, pool).catch((cause: unknown) => {
      throw new MigrationError({ migration: null, lockTimeoutMs }, { cause });
    });
    // Migrations only add, so an older build has what it needs. The migrator would call what it does not know a corruption.
    if (pending.length === 0) return { applied: [], ahead };
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) {
      const failed = results?.find(({ status }) => status === "Error");
      throw new MigrationError({ migration: failed?.migrationName ?? null, lockTimeoutMs }, { cause: error });
    }
    return {
      ahead,
      applied: (results ?? [])
        .filter(({ status }) => status === "Success")
        .map(({ migrationName }) => migrationName),
    };
  });
}

/** Which migrations stand and which are pending. Changes nothing. */
export async function migrationStatus(options: MigrateOptions): Promise<MigrationStatus> {
  return withMigrator(options, statusOf);
}

async function statusOf(migrator: Migrator, pool: pg.Pool): Promise<MigrationStatus> {
  const migrations = await migrator.getMigrations();
  const pending = migrations.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
  if (pending.length === migrations.length) return { applied: [], pending, ahead: [] };
  const { rows } = await pool.query<{ name: string }>(`select name from ${MIGRATION_TABLE} order by name`);
  const stand = rows.map(({ name }) => name);
  const known = new Set(migrations.map(({ name }) => name));
  return {
    applied: stand.filter((name) => known.has(name)),
    pending,
    ahead: stand.filter((name) => !known.has(name)),
  };
}

/**
 * A newer schema is welcome: migrations only add, and what is added is read by its name.
 *
 * @throws {SchemaBehindError} when migrations of this build are pending.
 */
export async function refuseOldSchema(options: MigrateOptions): Promise<void> {
  const { pending } = await migrationStatus(options);
  if (pending.length > 0) throw new SchemaBehindError({ pending });
}

async function withMigrator<Result>(
  { databaseUrl, folder = FOLDER, lockTimeoutMs = LOCK_TIMEOUT_MS }: MigrateOptions,
  work: (migrator: Migrator, pool: pg.Pool) => Promise<Result>,
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
        migrationTableName: MIGRATION_TABLE,
        migrationLockTableName: "junban_migration_lock",
      }),
      pool,
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
