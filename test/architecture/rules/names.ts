import type { Violation } from "./violation.ts";

const DRAWERS = /^(common|shared|utils?|helpers?|core|misc|lib)(\.[a-z]+)*$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/;

/** Folders and files named after no concept, and modules not named in kebab-case. */
export function wrongNames(files: readonly string[]): Violation[] {
  return files.flatMap((path) => {
    const parts = path.split("/");
    const drawer = parts.find((part) => DRAWERS.test(part));
    const file = parts.at(-1) ?? "";
    const says = [
      ...(drawer === undefined ? [] : [`is called ${drawer}: name what it holds`]),
      ...(/\.(ts|js|lua)$/.test(file) && !KEBAB.test(file) ? [`is not named in kebab-case`] : []),
    ];
    return says.map((line) => ({ where: path, line: 1, says: line }));
  });
}
