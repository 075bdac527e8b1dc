import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A file of the checkout, by its path from the root. */
export function read(path: string): string {
  return readFileSync(`${ROOT}${path}`, "utf8");
}

/** Every document of a YAML file. A merge key is only understood where it is asked for, as by docker compose. */
export function readYaml(path: string, { merge = false } = {}): unknown[] {
  return parseAllDocuments(read(path), { merge }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${String(document.errors[0])}`);
    return document.toJS() as unknown;
  });
}
