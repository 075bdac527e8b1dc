/** What one vitest run shares with its test files: plain data, handed over by the global setup. */
export interface SharedServers {
  /** Marks everything this run creates on servers that are not its own. */
  runId: string;
  /** A database on which databases may be created. */
  adminUrl: string;
  /** The migrated database that fresh ones are copied from. */
  templateName: string;
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
