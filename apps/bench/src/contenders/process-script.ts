import { fileURLToPath } from "node:url";

/** The compiled script of a peer's process: the same file whether the bench itself runs from source or compiled. */
export function processScript(name: string): string {
  return fileURLToPath(new URL(`../../dist/processes/${name}.js`, import.meta.url));
}

/** The line that processes/applier.ts prints once jobs are taken. */
export const STARTED_LINE = /^started$/u;
