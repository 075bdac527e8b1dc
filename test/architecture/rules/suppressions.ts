import { walk } from "./source.ts";
import type { Source, literalText } from "./source.ts";
import type { Violation } from "./violation.ts";

/** A comment that switches a check off, and why. */
export interface Suppression {
  readonly path: string;
  readonly line: number;
  readonly directive: string;
  /** What stands behind ` -- `; empty when nothing does. */
  readonly reason: string;
}

const DIRECTIVE =
  /(?:oxlint|eslint)-disable(?:-next-line|-line)?\b[^\n]*|@ts-(?:expect-error|ignore|nocheck)\b[^\n]*/g;

/** Every suppression in the tree. */
export function suppressions(sources: readonly Source[]): Suppression[] {
  return sources.flatMap((source) =>
    source.comments.flatMap((comment) =>
      [...comment.value.matchAll(DIRECTIVE)].map((match) => {
        const [directive = "", ...reason] = match[0].split(" -- ");
        const line = source.lineAt(comment.start + match.index);
        return { path: source.path, line, directive: directive.trim(), reason: reason.join(" -- ").trim() };
      }),
    ),
  );
}

/** Suppressions nobody explained, those that name no rule, and those that hide a whole file from the compiler. */
export function unreasonedSuppressions(sources: readonly Source[]): Violation[] {
  return suppressions(sources).flatMap(({ path, line, directive, reason }) => {
    const says: string[] = [];
    if (reason.length < 15) says.push(`suppresses "${directive}" without a reason behind " -- "`);
    if (/@ts-(ignore|nocheck)/.test(directive)) {
      says.push(`uses "${directive}"; @ts-expect-error fails once it is idle`);
    }
    if (/-disable(-next-line|-line)?$/.test(directive)) {
      says.push("switches every rule off instead of naming one");
    }
    return says.map((text) => ({ where: path, line, says: text }));
  });
}

/** How many suppressions each file holds, by path. */
export function suppressionCounts(sources: readonly Source[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { path } of suppressions(sources)) counts[path] = (counts[path] ?? 0) + 1;
  return counts;
}

const RUNNERS: ReadonlySet<string> = new Set(["test", "it", "describe", "suite", "bench"]);
const DODGES: ReadonlySet<string> = new Set(["skip", "skipIf", "runIf", "todo", "fails", "only"]);

/** Tests that are skipped, expected to fail, run alone or retried: each hides what it should show. */
export function dodgedTests(sources: readonly Source[]): Violation[] {
  const found: Violation[] = [];
  for (const source of sources.filter((candidate) => candidate.path.startsWith("test/"))) {
    walk(source.program, (node) => {
      const says = dodge(node);
      if (says !== null) found.push({ where: source.path, line: source.lineAt(node.start), says });
    });
  }
  return found;
}

function dodge(node: Parameters<typeof literalText>[0]): string | null {
  if (
    node.type === "MemberExpression" &&
    node.object.type === "Identifier" &&
    node.property.type === "Identifier"
  ) {
    const { object, property } = node;
    return RUNNERS.has(object.name) && DODGES.has(property.name)
      ? `uses ${object.name}.${property.name}`
      : null;
  }
  if (node.type !== "CallExpression" || node.callee.type !== "Identifier" || !RUNNERS.has(node.callee.name)) {
    return null;
  }
  const retries = node.arguments.some(
    (argument) =>
      argument.type === "ObjectExpression" &&
      argument.properties.some(
        (property) =>
          property.type === "Property" && property.key.type === "Identifier" && property.key.name === "retry",
      ),
  );
  return retries ? "retries a test: a race that passes at the second try is still a race" : null;
}
