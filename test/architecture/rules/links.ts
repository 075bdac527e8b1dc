import { posix } from "node:path";

/** A page of the project: its path and its Markdown. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Links that lead to no file of the project, or out of it. */
export function brokenLinks(pages: readonly Page[], files: readonly string[]): string[] {
  const known = new Set(files.flatMap((file) => [file, ...foldersOf(file)]));
  return pages.flatMap(({ path, text }) =>
    targetsIn(text).flatMap((target) => {
      if (/^[a-z]+:/i.test(target)) return [`${path} links to ${target}, outside the project`];
      const [file = ""] = target.split("#");
      if (file === "") return [];
      const resolved = posix.join(posix.dirname(path), file).replace(/\/$/, "");
      return known.has(resolved) ? [] : [`${path} links to ${target}, which does not exist`];
    }),
  );
}

/** Where the links and pictures of a page lead, in their sequence; what stands in code blocks is none. */
export function targetsIn(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```/gm, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "");
}

function foldersOf(file: string): string[] {
  const folder = posix.dirname(file);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
}
