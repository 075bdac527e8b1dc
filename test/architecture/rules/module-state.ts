import type { Node } from "oxc-parser";
import { walk } from "./source.ts";
import type { Source } from "./source.ts";
import { isProduction } from "./tree.ts";
import type { Violation } from "./violation.ts";

/** Methods that change the collection they are called on. */
const MUTATORS: ReadonlySet<string> = new Set(
  "set add delete clear push pop shift unshift splice sort reverse fill copyWithin exec test".split(" "),
);

/** Classes whose instances hold nothing that changes from one use to the next. */
const STATELESS: ReadonlySet<string> = new Set([
  "RegExp",
  "TextEncoder",
  "TextDecoder",
  "URL",
  "Error",
  "Intl",
]);

/** Types that let their holder be changed; any other named type is taken to say for itself what may be changed. */
const CHANGEABLE_TYPES: ReadonlySet<string> = new Set(
  "Array Record Map Set WeakMap WeakSet Partial".split(" "),
);

/**
 * State that lives in a module instead of in an owner: bindings that can be reassigned, collections that are or can be
 * changed, instances of classes that may remember something, static fields that are not readonly.
 */
export function mutableModuleState(sources: readonly Source[]): Violation[] {
  return sources.filter((source) => isProduction(source.path)).flatMap(stateOf);
}

function stateOf(source: Source): Violation[] {
  const changed = changedNames(source);
  const found: Violation[] = [];
  const report = (name: string, node: Node, says: string): void => {
    found.push({ where: `${source.path}#${name}`, line: source.lineAt(node.start), says });
  };
  for (const statement of source.program.body) {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declaration?.type !== "VariableDeclaration" || declaration.declare === true) continue;
    for (const declarator of declaration.declarations) {
      const name = declarator.id.type === "Identifier" ? declarator.id.name : "(pattern)";
      const says =
        declaration.kind === "const"
          ? stateIn(declarator, { isChanged: changed.has(name), exported: statement !== declaration })
          : `is a module-level ${declaration.kind}`;
      if (says !== null) report(name, declarator, says);
    }
  }
  walk(source.program, (node) => {
    if (node.type !== "PropertyDefinition" || !node.static || node.readonly) return;
    const name =
      node.key.type === "Identifier" || node.key.type === "PrivateIdentifier" ? node.key.name : "(computed)";
    report(name, node, "is a static field that is not readonly");
  });
  return found;
}

interface Use {
  readonly isChanged: boolean;
  readonly exported: boolean;
}

function stateIn(declarator: Extract<Node, { type: "VariableDeclarator" }>, use: Use): string | null {
  const { init, id } = declarator;
  if (init === null) return null;
  const value = unwrapped(init);
  const annotation = id.type === "Identifier" ? id.typeAnnotation?.typeAnnotation : undefined;
  switch (value.type) {
    case "NewExpression":
      return instanceState(value, { ...use, annotation });
    case "ArrayExpression":
    case "ObjectExpression":
      if (use.isChanged) return "is a module-level collection that this module changes";
      if (use.exported && !isConstant(init) && !isReadonly(annotation)) {
        return "is handed out and can be changed by whoever imports it: say `as const` or give it a readonly type";
      }
      return null;
    case "Literal":
      if (!use.isChanged || !("regex" in value) || !/[gy]/.test(value.regex.flags)) return null;
      return "is a module-level regular expression that remembers where it stopped";
    default:
      return null;
  }
}

function instanceState(
  value: Extract<Node, { type: "NewExpression" }>,
  use: Use & { readonly annotation: Node | undefined },
): string | null {
  const name = leftmostName(value.callee);
  if (STATELESS.has(name)) return null;
  if (name !== "Map" && name !== "Set") {
    return `is a module-level instance of ${name}, which may remember something`;
  }
  if (use.isChanged) return `is a module-level ${name} that this module changes`;
  if (use.annotation === undefined || !isReadonly(use.annotation)) {
    return `is a module-level ${name} without the type Readonly${name}`;
  }
  return null;
}

/** Names whose object is changed somewhere in the module: a mutating method, an assignment into it, a delete. */
function changedNames(source: Source): ReadonlySet<string> {
  const names = new Set<string>();
  walk(source.program, (node) => {
    if (node.type === "CallExpression" && node.callee.type === "MemberExpression") {
      const { object, property } = node.callee;
      if (property.type === "Identifier" && MUTATORS.has(property.name)) names.add(leftmostName(object));
      if (leftmostName(object) === "Object" && property.type === "Identifier" && property.name === "assign") {
        const target = node.arguments[0];
        if (target !== undefined) names.add(leftmostName(target));
      }
    }
    if (node.type === "AssignmentExpression" && node.left.type === "MemberExpression") {
      names.add(leftmostName(node.left));
    }
    if (node.type === "UpdateExpression") names.add(leftmostName(node.argument));
    if (node.type === "UnaryExpression" && node.operator === "delete") names.add(leftmostName(node.argument));
  });
  return names;
}

function leftmostName(node: Node): string {
  if (node.type === "MemberExpression") return leftmostName(node.object);
  return node.type === "Identifier" ? node.name : "";
}

function unwrapped(node: Node): Node {
  return node.type === "TSAsExpression" || node.type === "TSSatisfiesExpression"
    ? unwrapped(node.expression)
    : node;
}

function isConstant(node: Node): boolean {
  if (node.type === "TSSatisfiesExpression") return isConstant(node.expression);
  if (node.type !== "TSAsExpression") return false;
  const type = node.typeAnnotation;
  return (
    type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "const"
  );
}

function isReadonly(annotation: Node | undefined | null): boolean {
  if (annotation?.type === "TSTypeOperator") return annotation.operator === "readonly";
  if (annotation?.type !== "TSTypeReference" || annotation.typeName.type !== "Identifier") return false;
  return !CHANGEABLE_TYPES.has(annotation.typeName.name);
}
