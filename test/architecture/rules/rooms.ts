import { calledMethod, literalText, walk } from "./source.ts";
import type { Source } from "./source.ts";
import { isProduction } from "./tree.ts";
import type { Violation } from "./violation.ts";

/** Where each outside library may be imported from; a library without a line may be imported by any room. */
const LIBRARY_ROOMS: ReadonlyMap<string, readonly string[]> = new Map([
  ["bullmq", ["packages/event-queues/", "apps/bench/"]],
  ["kysely", ["packages/order-store/", "packages/upstream-outbox/"]],
  ["pg", ["packages/order-store/", "packages/sandbox/", "packages/upstream-outbox/"]],
  ["ioredis", ["packages/handoff-lock/", "packages/event-queues/", "packages/order-updates/", "apps/"]],
  ["pino", ["packages/service/"]],
  [
    "prom-client",
    ["packages/service/", "packages/relay/", "apps/worker/", "apps/forwarder/", "apps/gateway/"],
  ],
  ["@opentelemetry/api", ["packages/tracing/"]],
  ["@opentelemetry/core", ["packages/tracing/"]],
  ["@opentelemetry/exporter-trace-otlp-http", ["packages/tracing/"]],
  ["@opentelemetry/resources", ["packages/tracing/"]],
  ["@opentelemetry/sdk-trace", ["packages/tracing/"]],
  ["fastify", ["apps/gateway/", "apps/console/"]],
  ["@fastify/helmet", ["apps/console/"]],
  ["@bull-board/api", ["apps/console/"]],
  ["@bull-board/fastify", ["apps/console/"]],
  ["escape-goat", ["apps/console/"]],
  ["cookie", ["apps/console/"]],
  ["zod", ["packages/orders/", "packages/service/"]],
  ["commander", ["apps/cli/"]],
  ["groupmq", ["apps/bench/"]],
  ["graphile-worker", ["apps/bench/"]],
  ["pg-boss", ["apps/bench/"]],
  ["@sesamecare-oss/redlock", ["apps/bench/"]],
  ["echarts", ["apps/bench/", "apps/chaos/"]],
  ["@xterm/headless", ["apps/recording/"]],
]);

/** Production modules that import a library outside the rooms it belongs to. */
export function strayLibraries(sources: readonly Source[]): Violation[] {
  return sources
    .filter((source) => isProduction(source.path))
    .flatMap((source) =>
      source.imports.flatMap(({ specifier, line }) => {
        const rooms = LIBRARY_ROOMS.get(libraryOf(specifier));
        if (rooms === undefined || rooms.some((room) => source.path.startsWith(room))) return [];
        return [{ where: source.path, line, says: `imports ${specifier}; only ${rooms.join(", ")} may` }];
      }),
    );
}

/** Rooms that may import a library and do not, as `library → room`. */
export function idleLibraryRooms(sources: readonly Source[]): string[] {
  const production = sources.filter((source) => isProduction(source.path));
  const isUsed = (library: string, room: string): boolean =>
    production.some(
      ({ path, imports }) =>
        path.startsWith(room) && imports.some(({ specifier }) => libraryOf(specifier) === library),
    );
  return [...LIBRARY_ROOMS].flatMap(([library, rooms]) =>
    rooms.filter((room) => !isUsed(library, room)).map((room) => `${library} → ${room}`),
  );
}

function libraryOf(specifier: string): string {
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Statements, anchored at the start and by their second word, so that prose beginning with "select" passes. */
const STATEMENT: readonly RegExp[] = [
  /^\s*select\s[\s\S]*?\sfrom\s+["\w(?]/i,
  /^\s*select\s+[\w.]+\(/i,
  /^\s*with\s+\w+(\s*\([^)]*\))?\s+as\s*(materialized\s*)?\(/i,
  /^\s*insert\s+into\s/i,
  /^\s*update\s+["\w.?]+\s+(as\s+\w+\s+)?set\s/i,
  /^\s*delete\s+from\s/i,
  /^\s*truncate\s+(table\s+)?["\w]/i,
  /^\s*(create|alter|drop)\s+(unique\s+)?(table|index|database|role|user|schema|view|type|function|extension)\s/i,
  /^\s*set\s+(local|session|transaction)\s/i,
  /^\s*(begin|commit|rollback)(\s+(transaction|work|isolation)\b.*)?;?\s*$/,
  /^\s*(BEGIN|COMMIT|ROLLBACK)\b/,
];

/**
 * Rooms that talk to Postgres: the store, the only one that talks to the fleet's; the upstream outbox and the guard of subscribers,
 * whose tables live in a producer's and a subscriber's database, of which the store knows nothing; and the sandbox for the
 * administration of its throwaway servers.
 */
const SQL_ROOMS: readonly string[] = [
  "packages/order-store/",
  "packages/upstream-outbox/",
  "packages/order-updates/",
  "packages/sandbox/",
];

/** SQL, or a call of `.query(`, outside the rooms that talk to Postgres. */
export function straySql(sources: readonly Source[]): Violation[] {
  return strays(sources, SQL_ROOMS, (node) => {
    if (calledMethod(node) === "query") return "calls .query(; only packages/order-store talks to Postgres";
    const text = literalText(node);
    const isSql = text !== null && STATEMENT.some((pattern) => pattern.test(text));
    return isSql ? "holds SQL; only packages/order-store does" : null;
  });
}

/** The lane, and the one place that puts a few lines around BullMQ's own script. */
const LUA_ROOMS: readonly string[] = ["packages/handoff-lock/", "packages/event-queues/src/job-ends.ts"];
const LUA_FILES: readonly string[] = [
  "packages/handoff-lock/lua/",
  "packages/event-queues/lua/complete-jobs.lua",
];
const LUA_CALLS: ReadonlySet<string> = new Set([
  "eval",
  "evalsha",
  "evalRo",
  "evalshaRo",
  "defineCommand",
  "fcall",
]);

/** Lua, or a command that runs it, outside its rooms. */
export function strayLua(sources: readonly Source[]): Violation[] {
  return strays(sources, LUA_ROOMS, (node) => {
    const method = calledMethod(node);
    if (method !== null && LUA_CALLS.has(method)) {
      return `calls .${method}(; packages/handoff-lock runs Lua`;
    }
    const text = literalText(node);
    const isLua = text !== null && /\bredis\.p?call\s*\(/.test(text);
    return isLua ? "holds Lua; packages/handoff-lock does" : null;
  });
}

/** Lua files outside their places. */
export function strayLuaFiles(files: readonly string[]): Violation[] {
  return files
    .filter((path) => path.endsWith(".lua") && !LUA_FILES.some((place) => path.startsWith(place)))
    .map((where) => ({ where, line: 1, says: "is Lua outside packages/handoff-lock/lua" }));
}

type Judge = (node: Parameters<Parameters<typeof walk>[1]>[0]) => string | null;

function strays(sources: readonly Source[], rooms: readonly string[], judge: Judge): Violation[] {
  const found: Violation[] = [];
  for (const source of sources) {
    if (!isProduction(source.path) || rooms.some((room) => source.path.startsWith(room))) continue;
    walk(source.program, (node) => {
      const says = judge(node);
      if (says !== null) found.push({ where: source.path, line: source.lineAt(node.start), says });
    });
  }
  return found;
}
