import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSource } from "./source.ts";
import type { Source } from "./source.ts";

/** One npm workspace, as its own package.json and tsconfig.json describe it. */
export interface Workspace {
  /** Folder relative to the checkout, such as `packages/orders`. */
  readonly folder: string;
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  readonly exported: readonly string[];
  /** Folders named by tsconfig references, relative to the checkout. */
  readonly references: readonly string[];
}

/** The checkout as the rules see it. */
export interface Tree {
  /** Every file that is ours, relative to the checkout. */
  readonly files: readonly string[];
  readonly workspaces: readonly Workspace[];
  readonly rootDevDependencies: readonly string[];
  /** Every TypeScript module under packages, apps and test. */
  readonly sources: readonly Source[];
  /** Modules that do not parse, each with what the parser said; no rule can speak about them. */
  readonly unreadable: readonly string[];
  read(path: string): string;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const NOT_OURS: ReadonlySet<string> = new Set(["node_modules", "dist", ".git", "coverage"]);

/** Reads the checkout this file belongs to. */
export function readTree(): Tree {
  const files = filesBelow(ROOT);
  const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const workspaces = files
    .filter((path) => /^(packages|apps)\/[^/]+\/package\.json$/.test(path))
    .map((path) => workspaceOf(path.replace(/\/package\.json$/, ""), read));
  const root = JSON.parse(read("package.json")) as Manifest;
  const sources: Source[] = [];
  const unreadable: string[] = [];
  for (const path of files.filter((file) => /^(packages|apps|test)\/.*\.ts$/.test(file))) {
    try {
      sources.push(parseSource(path, read(path)));
    } catch (error) {
      unreadable.push(String(error));
    }
  }
  const rootDevDependencies = Object.keys(root.devDependencies ?? {});
  return { files, workspaces, sources, unreadable, rootDevDependencies, read };
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
}

function workspaceOf(folder: string, read: (path: string) => string): Workspace {
  const manifest = JSON.parse(read(`${folder}/package.json`)) as Manifest;
  const compiler = JSON.parse(read(`${folder}/tsconfig.json`)) as {
    readonly references?: readonly { readonly path: string }[];
  };
  return {
    folder,
    name: manifest.name,
    dependencies: Object.keys(manifest.dependencies ?? {}),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
    exported: Object.keys(manifest.exports ?? {}),
    references: (compiler.references ?? []).map((reference) =>
      join(folder, reference.path).split(sep).join("/"),
    ),
  };
}

function filesBelow(root: string): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (NOT_OURS.has(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else found.push(relative(root, path).split(sep).join("/"));
    }
  };
  visit(root);
  return found.toSorted();
}

/** `packages/orders/src/decide.ts` → `packages/orders`; `test/orders/x.test.ts` → `test/orders`; else null. */
export function roomOf(path: string): string | null {
  return /^(?:packages|apps|test)\/[^/]+(?=\/)/.exec(path)?.[0] ?? null;
}

/** Production code: what may end up in a running fleet or in a command. */
export function isProduction(path: string): boolean {
  return /^(packages|apps)\//.test(path);
}
