import type { Node } from "oxc-parser";
import { walk } from "./source.ts";
import type { Source } from "./source.ts";
import { isProduction } from "./tree.ts";
import type { Violation } from "./violation.ts";

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 70;

/** Files over 400 lines. */
export function longFiles(files: readonly { readonly path: string; readonly text: string }[]): Violation[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    if (lines <= MAX_FILE_LINES) return [];
    return [{ where: path, line: lines, says: `has ${lines} lines; ${MAX_FILE_LINES} are the limit` }];
  });
}

/** Functions over 70 lines, comments and blank lines counted. A test's own callback may be as long as its file. */
export function longFunctions(sources: readonly Source[]): Violation[] {
  const found: Violation[] = [];
  for (const source of sources) {
    walk(source.program, (node, parents) => {
      const parent = parents.at(-1);
      if (!isFunction(node) || (!isProduction(source.path) && parent?.type === "CallExpression")) return;
      const line = source.lineAt(node.start);
      const lines = source.lineAt(node.end) - line + 1;
      if (lines <= MAX_FUNCTION_LINES) return;
      const where = `${source.path}#${nameOf(node, parent)}`;
      found.push({ where, line, says: `has ${lines} lines; ${MAX_FUNCTION_LINES} are the limit` });
    });
  }
  return found;
}

function isFunction(node: Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

function nameOf(node: Node, parent: Node | undefined): string {
  if (node.type === "FunctionDeclaration" && node.id !== null) return node.id.name;
  if (parent?.type === "VariableDeclarator" && parent.id.type === "Identifier") return parent.id.name;
  if (
    parent?.type === "MethodDefinition" ||
    parent?.type === "Property" ||
    parent?.type === "PropertyDefinition"
  ) {
    return parent.key.type === "Identifier" || parent.key.type === "PrivateIdentifier"
      ? parent.key.name
      : "(computed)";
  }
  return "(anonymous)";
}
