import { randomBytes } from "node:crypto";
import pg from "pg";
import { runStatement } from "./statements.ts";

export interface GuestDatabase {
  readonly url: string;
  /** Ends whatever is still connected to it and drops it. May be called twice. */
  drop(): Promise<void>;
}

/** A database of our own on a server that is somebody else's, for a run that is asked not to start one. */
export async function createGuestDatabase(serverUrl: string): Promise<GuestDatabase> {
  const name = `junban_guest_${randomBytes(6).toString("hex")}`;
  await runStatement(serverUrl, `CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () =>
      runStatement(serverUrl, `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`),
  };
}
