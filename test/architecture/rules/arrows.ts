import { posix } from "node:path";
import type { Source } from "./source.ts";
import { roomOf } from "./tree.ts";
import type { Violation } from "./violation.ts";

/** Which sibling each package may import. A package without a line here may not exist. */
export const SIBLINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["orders", []],
  ["handoff-lock", []],
  ["service", []],
  ["sandbox", []],
  ["order-store", ["orders"]],
  ["event-queues", ["orders", "handoff-lock"]],
  ["relay", ["order-store", "event-queues"]],
  ["operations", ["orders", "handoff-lock", "order-store", "event-queues"]],
  // Its forwarder is lent a publisher: a producer that only enqueues installs no queue.
  ["upstream-outbox", ["orders"]],
  // Types of the ports that it wraps; no part knows of it.
  ["tracing", ["orders", "event-queues", "order-store", "service"]],
  ["order-stories", ["orders"]],
  ["order-updates", ["event-queues", "handoff-lock"]],
  ["trial", ["orders", "order-store", "order-stories", "sandbox"]],
]);

/** Imports that vanish at compile time are all these may take from a sibling. */
const TYPES_ONLY: ReadonlySet<string> = new Set(["order-stories"]);

/** Never part of a running fleet. */
const THROWAWAY: ReadonlySet<string> = new Set(["order-stories", "sandbox", "trial"]);

/** Where throwaway servers and invented histories may be used besides the tests. */
const THROWAWAY_ROOMS: readonly string[] = [
  "apps/cli/src/demo/",
  "apps/bench/",
  "apps/chaos/",
  "packages/trial/",
  "test/",
];

/** The dependency arrows: who may import whom. */
export function wrongArrows(sources: readonly Source[]): Violation[] {
  return sources.flatMap((source) =>
    source.imports.flatMap(({ specifier, typeOnly, line }) => {
      const target = /^@junban\/([^/]+)/.exec(specifier)?.[1];
      if (target === undefined) return [];
      const says = wrongArrow(source.path, target, typeOnly);
      return says === null ? [] : [{ where: source.path, line, says }];
    }),
  );
}

function wrongArrow(path: string, target: string, typeOnly: boolean): string | null {
  if (!SIBLINGS.has(target)) return `imports @junban/${target}, which is not a package`;
  if (THROWAWAY.has(target) && !THROWAWAY_ROOMS.some((room) => path.startsWith(room))) {
    return `imports @junban/${target}, which never runs in production`;
  }
  const [kind, name] = (roomOf(path) ?? "").split("/");
  if (kind !== "packages" || name === undefined) return null;
  const siblings = SIBLINGS.get(name);
  if (siblings === undefined) return `belongs to packages/${name}, which has no line in the table of arrows`;
  if (!siblings.includes(target)) return `imports @junban/${target}; ${name} may not`;
  if (TYPES_ONLY.has(name) && !typeOnly) {
    return `imports values of @junban/${target}; ${name} may take types only`;
  }
  return null;
}

/** Folders whose inside a test folder may open, besides the package of its own name. */
const OPENED_BY_TESTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["test/fleet", ["apps/worker"]],
  ["test/bench", ["apps/bench"]],
  ["test/chaos", ["apps/chaos"]],
  ["test/cli", ["apps/cli"]],
  ["test/demo", ["apps/cli"]],
  ["test/recording", ["apps/recording"]],
  ["test/gateway", ["apps/gateway"]],
  ["test/console", ["apps/console"]],
  ["test/forwarder", ["test/fleet", "test/upstream-outbox"]],
  ["test/order-updates", ["test/relay"]],
  ["test/tracing", ["test/fleet"]],
  ["test/deploy", ["apps/console", "test/console"]],
  ["test/observability", ["test/fleet", "test/cli", "test/console"]],
  ["test/journey", ["test/fleet", "test/upstream-outbox"]],
  ["test/explore", ["test/fleet", "test/handoff-lock"]],
  ["test/mutation", ["test/architecture"]],
  ["test/upgrades", ["test/fleet", "test/handoff-lock", "test/mutation"]],
]);

/** Imports that walk past a package's face: `@junban/orders/src/x`, or a relative path into another room. */
export function deepImports(sources: readonly Source[]): Violation[] {
  return sources.flatMap((source) =>
    source.imports.flatMap(({ specifier, line }) => {
      const says = deepImport(source.path, specifier);
      return says === null ? [] : [{ where: source.path, line, says }];
    }),
  );
}

function deepImport(path: string, specifier: string): string | null {
  if (/^@junban\/[^/]+\//.test(specifier)) return `imports ${specifier}, past the package's face`;
  if (!specifier.startsWith(".")) return null;
  const from = roomOf(path);
  const to = roomReached(path, specifier);
  if (from === null || from === to) return null;
  return mayOpen(from, to) ? null : `imports ${specifier}, which lies outside ${from}`;
}

function mayOpen(from: string, to: string | null): boolean {
  if (!from.startsWith("test/") || to === null) return false;
  if (to === "test/support") return true;
  return to === from.replace("test/", "packages/") || (OPENED_BY_TESTS.get(from) ?? []).includes(to);
}

/** Folders that a test folder may open and does not, as `test folder → folder`. */
export function idleOpenings(sources: readonly Source[]): string[] {
  const opened = new Set(
    sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => specifier.startsWith("."))
        .map(({ specifier }) => `${roomOf(path)} → ${roomReached(path, specifier)}`),
    ),
  );
  return [...OPENED_BY_TESTS]
    .flatMap(([from, folders]) => folders.map((to) => `${from} → ${to}`))
    .filter((opening) => !opened.has(opening));
}

/** The room that a relative import leads to. */
function roomReached(path: string, specifier: string): string | null {
  return roomOf(posix.join(posix.dirname(path), specifier));
}
