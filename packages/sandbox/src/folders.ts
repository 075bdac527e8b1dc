import { chmod, chown, lchown, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, canEnter } from "./accounts.ts";

/** A fresh folder for one server, named so that a person who finds it knows whose it is. Owned by the account if one is given. */
export async function createServerFolder(server: string, account?: Account): Promise<string> {
  const parent = await temporaryParent(account);
  const folder = await mkdtemp(join(parent, `junban-sandbox-${server}-`));
  if (account !== undefined) {
    await chown(folder, account.uid, account.gid);
    await chmod(folder, 0o755);
  }
  return folder;
}

/** The system's folder for temporary files, or one that the account can enter where root's own is closed to others. */
async function temporaryParent(account: Account | undefined): Promise<string> {
  const own = await realpath(tmpdir());
  if (account === undefined || canEnter(own, account)) return own;
  for (const candidate of ["/tmp", "/var/tmp"]) {
    const path = await realpath(candidate);
    if (canEnter(path, account)) return path;
  }
  return own;
}

export async function removeFolder(folder: string): Promise<void> {
  // A server's last breath may still be writing; rm then finds a folder that is not empty and tries again.
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

export async function giveFolderTo(folder: string, account: Account): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    await lchown(join(entry.parentPath, entry.name), account.uid, account.gid);
  }
  await chown(folder, account.uid, account.gid);
}
