import type { Source } from "./source.ts";
import type { Workspace } from "./tree.ts";
import type { Violation } from "./violation.ts";

/** Each package has one face, `src/index.ts`, which opens by saying what the package is for and what it is not for. */
export function facelessPackages(workspaces: readonly Workspace[], sources: readonly Source[]): Violation[] {
  return workspaces
    .filter((workspace) => workspace.folder.startsWith("packages/"))
    .flatMap((workspace) => {
      const where = `${workspace.folder}/src/index.ts`;
      const face = sources.find((source) => source.path === where);
      const says = [
        ...(face === undefined ? ["is missing: every package has one public face"] : faults(face)),
        ...(workspace.exported.join() === "."
          ? []
          : [`is not the only export of ${workspace.name}: package.json must export "." and nothing else`]),
      ];
      return says.map((line) => ({ where, line: 1, says: line }));
    });
}

function faults(face: Source): string[] {
  const opening = openingComment(face);
  const found: string[] = [];
  if (opening.length < 80 || !/\b(not|never|no|nothing)\b/i.test(opening)) {
    found.push("must open with a comment that says what the package is for and what it is not for");
  }
  if (!face.program.body.every(isPassedOn)) {
    found.push("must only pass on what other files define");
  }
  return found;
}

function openingComment(face: Source): string {
  const firstStatement = face.program.body[0]?.start ?? face.text.length;
  return face.comments
    .filter((comment) => comment.end <= firstStatement)
    .map((comment) => comment.value)
    .join(" ")
    .replaceAll(/[\s*]+/g, " ")
    .trim();
}

function isPassedOn(statement: Source["program"]["body"][number]): boolean {
  if (statement.type === "ExportNamedDeclaration") return statement.declaration === null;
  return statement.type === "ImportDeclaration" || statement.type === "ExportAllDeclaration";
}
