import type { Program } from "@junban/sandbox";

/** Programs that tests use and that are no part of the project, with the system packages in which they come. */
export const PROGRAMS = {
  curl: { name: "curl", debian: "curl", brew: "curl" },
  openssl: { name: "openssl", debian: "openssl", brew: "openssl" },
  python: { name: "python3", debian: "python3", brew: "python" },
  psql: { name: "psql", debian: "postgresql-client", brew: "libpq" },
  redisCli: { name: "redis-cli", debian: "redis-tools", brew: "redis" },
  // From the system: the builds that npm packages fetch come from elsewhere.
  chromium: { name: "chromium", debian: "chromium", brew: "chromium" },
} as const satisfies Readonly<Record<string, Program>>;
