import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { NoUnprivilegedUserError } from "./errors.ts";

export interface Account {
  uid: number;
  gid: number;
}

/** Seams for tests; the defaults ask the system. */
export interface AccountLookup {
  ownUid(): number;
  find(name: string): Account | undefined;
  create(name: string): void;
}

const CREATED_NAME = "junban-sandbox";

/** The account that servers which refuse root run as, or undefined when we are not root and they may run as ourselves. */
export function unprivilegedAccount(lookup: AccountLookup = systemAccounts): Account | undefined {
  if (lookup.ownUid() !== 0) return undefined;
  for (const name of ["postgres", "nobody", CREATED_NAME]) {
    const account = lookup.find(name);
    if (account !== undefined && account.uid !== 0) return account;
  }
  try {
    lookup.create(CREATED_NAME);
  } catch (cause) {
    throw new NoUnprivilegedUserError({ cause });
  }
  const created = lookup.find(CREATED_NAME);
  if (created === undefined) throw new NoUnprivilegedUserError();
  return created;
}

const systemAccounts: AccountLookup = {
  ownUid: () => process.getuid?.() ?? -1,
  find: (name) => {
    try {
      const ask = (flag: string): number =>
        Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: ask("-u"), gid: ask("-g") };
    } catch {
      return undefined;
    }
  },
  create: (name) => {
    try {
      execFileSync("useradd", ["--system", "--no-create-home", "--shell", "/bin/false", name], {
        stdio: "ignore",
      });
    } catch {
      // Alpine and other busybox systems know adduser only.
      execFileSync("adduser", ["-S", "-H", "-D", "-s", "/bin/false", name], { stdio: "ignore" });
    }
  },
};

/** Whether the account may walk into the folder (every folder above it included) and list it. */
export function canEnter(folder: string, account: Account): boolean {
  for (let path = folder; ; path = dirname(path)) {
    const wanted = path === folder ? 0o5 : 0o1;
    if (!allows(path, account, wanted)) return false;
    if (path === dirname(path)) return true;
  }
}

/** Whether the account has all the wanted permission bits (4 read, 2 write, 1 execute or enter) on this one path. */
export function allows(path: string, account: Account, wanted: number): boolean {
  const stat = statSync(path);
  let shift = 0;
  if (stat.uid === account.uid) shift = 6;
  else if (stat.gid === account.gid) shift = 3;
  return ((stat.mode >> shift) & wanted) === wanted;
}
