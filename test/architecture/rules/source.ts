import { parseSync, visitorKeys } from "oxc-parser";
import type { Comment, Node, Program } from "oxc-parser";

/** One parsed module. `path` is relative to the checkout, with forward slashes. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly imports: readonly Import[];
  lineAt(offset: number): number;
}

export interface Import {
  readonly specifier: string;
  /** True when the import disappears at compile time. */
  readonly typeOnly: boolean;
  readonly line: number;
}

/** Parses one module; throws when the text is not TypeScript, since a rule that cannot read a file proves nothing. */
export function parseSource(path: string, text: string): Source {
  const { program, comments, errors } = parseSync(path, text, { preserveParens: false });
  const first = errors[0];
  if (first !== undefined) throw new Error(`${path} does not parse: ${first.message}`);
  const lineStarts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  const lineAt = (offset: number): number => {
    let low = 0;
    let high = lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
  return { path, text, program, comments, lineAt, imports: importsOf(program, lineAt) };
}

/** Calls `visit` for `root` and everything below it, parents first; `parents` runs from the root to the direct parent. */
export function walk(root: Node, visit: (node: Node, parents: readonly Node[]) => void): void {
  const parents: Node[] = [];
  const step = (node: Node): void => {
    visit(node, parents);
    parents.push(node);
    for (const child of childrenOf(node)) step(child);
    parents.pop();
  };
  step(root);
}

function childrenOf(node: Node): Node[] {
  const fields = node as unknown as Readonly<Record<string, unknown>>;
  return (visitorKeys[node.type] ?? []).flatMap((key) => {
    const value = fields[key];
    return (Array.isArray(value) ? value : [value]).filter(isNode);
  });
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

function importsOf(program: Program, lineAt: (offset: number) => number): Import[] {
  const found: Import[] = [];
  walk(program, (node) => {
    const read = importIn(node);
    if (read !== null) found.push({ ...read, line: lineAt(node.start) });
  });
  return found;
}

function importIn(node: Node): Omit<Import, "line"> | null {
  switch (node.type) {
    case "ImportDeclaration": {
      const named = node.specifiers.filter((specifier) => specifier.type === "ImportSpecifier");
      const allTypes =
        named.length > 0 &&
        named.length === node.specifiers.length &&
        named.every((specifier) => specifier.importKind === "type");
      return { specifier: node.source.value, typeOnly: node.importKind === "type" || allTypes };
    }
    case "ExportAllDeclaration":
      return { specifier: node.source.value, typeOnly: node.exportKind === "type" };
    case "ExportNamedDeclaration":
      return node.source === null
        ? null
        : { specifier: node.source.value, typeOnly: node.exportKind === "type" };
    case "ImportExpression":
      return node.source.type === "Literal" && typeof node.source.value === "string"
        ? { specifier: node.source.value, typeOnly: false }
        : null;
    case "TSImportType":
      return { specifier: node.source.value, typeOnly: true };
    default:
      return null;
  }
}

/** The text of a string literal or of a template with `?` in place of each expression; null for any other node. */
export function literalText(node: Node): string | null {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type === "TemplateLiteral") {
    return node.quasis.map((quasi) => quasi.value.cooked ?? quasi.value.raw).join("?");
  }
  return null;
}

/** The name of the method a call names: `x.query(…)` gives `query`; anything else gives null. */
export function calledMethod(node: Node): string | null {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return null;
  const { property, computed } = node.callee;
  return !computed && property.type === "Identifier" ? property.name : null;
}
