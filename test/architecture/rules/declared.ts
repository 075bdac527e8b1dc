import { isBuiltin } from "node:module";
import type { Source } from "./source.ts";
import { roomOf } from "./tree.ts";
import type { Tree, Workspace } from "./tree.ts";
import type { Violation } from "./violation.ts";

/**
 * Imports that no package.json declares. npm lays every workspace's packages in one folder, so such an import works
 * here and breaks for whoever installs one workspace alone; the compiler does not see it.
 */
export function undeclaredImports(
  tree: Pick<Tree, "sources" | "workspaces" | "rootDevDependencies">,
): Violation[] {
  return tree.sources.flatMap((source) => {
    const declared = declaredFor(source.path, tree);
    return source.imports.flatMap(({ specifier, line }) => {
      if (specifier.startsWith(".") || isBuiltin(specifier)) return [];
      const name = packageName(specifier);
      if (declared.has(name)) return [];
      return [{ where: source.path, line, says: `imports ${name}, which its package.json does not declare` }];
    });
  });
}

function declaredFor(
  path: string,
  tree: Pick<Tree, "workspaces" | "rootDevDependencies">,
): ReadonlySet<string> {
  const workspace = tree.workspaces.find((candidate) => candidate.folder === roomOf(path));
  if (workspace !== undefined) return new Set([...workspace.dependencies, ...workspace.devDependencies]);
  // The tests belong to the root, which declares its tools and owns every workspace.
  return new Set([...tree.rootDevDependencies, ...tree.workspaces.map((candidate) => candidate.name)]);
}

/** Siblings that a package.json or a tsconfig.json names although no module of it imports them, or leaves out. */
export function idleSiblings(tree: Pick<Tree, "sources" | "workspaces">): Violation[] {
  const folders = new Map(tree.workspaces.map((workspace) => [workspace.name, workspace.folder]));
  return tree.workspaces.flatMap((workspace) => {
    const used = new Set(
      importedBy(workspace, tree.sources).filter((name) => folders.has(name) && name !== workspace.name),
    );
    const idle = [...workspace.dependencies, ...workspace.devDependencies]
      .filter((name) => name.startsWith("@junban/") && !used.has(name))
      .map((name) => ({
        where: `${workspace.folder}/package.json`,
        line: 1,
        says: `declares ${name}, which no module of it imports`,
      }));
    return [
      ...idle,
      ...wrongReferences(
        workspace,
        [...used].map((name) => folders.get(name) ?? name),
      ),
    ];
  });
}

function wrongReferences(workspace: Workspace, wanted: readonly string[]): Violation[] {
  const where = `${workspace.folder}/tsconfig.json`;
  const missing = wanted.filter((folder) => !workspace.references.includes(folder));
  const idle = workspace.references.filter((folder) => !wanted.includes(folder));
  return [
    ...missing.map((folder) => ({ where, line: 1, says: `does not reference ${folder}, which it imports` })),
    ...idle.map((folder) => ({ where, line: 1, says: `references ${folder}, which it does not import` })),
  ];
}

function importedBy(workspace: Workspace, sources: readonly Source[]): string[] {
  return sources
    .filter((source) => source.path.startsWith(`${workspace.folder}/`))
    .flatMap((source) => source.imports.map((entry) => packageName(entry.specifier)));
}

function packageName(specifier: string): string {
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? specifier);
}
