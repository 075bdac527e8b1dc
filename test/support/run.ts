import pg from "pg";

/** What one vitest run shares with its test files: plain data, handed over by the global setup. */
export interface SharedServers {
  /** A database from which others may be created. */
  adminUrl: string;
  /** Begins the name of each database of this run, also on a server that is not its own. */
  namePrefix: string;
  redisUrl: string;
}

declare module "vitest" {
  interface ProvidedContext {
    junban: SharedServers;
  }
}

/** The same server, another database. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** One short-lived connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
