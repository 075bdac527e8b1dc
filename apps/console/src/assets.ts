import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** A file that belongs to every page. */
export interface Asset {
  readonly name: string;
  readonly type: string;
  readonly text: string;
  readonly etag: string;
}

const TYPES = {
  "console.css": "text/css; charset=utf-8",
  "console.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

export async function readAssets(): Promise<readonly Asset[]> {
  return Promise.all(
    Object.entries(TYPES).map(async ([name, type]) => {
      const text = await readFile(new URL(`../assets/${name}`, import.meta.url), "utf8");
      const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
      return { name, type, text, etag };
    }),
  );
}
