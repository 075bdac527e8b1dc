import { readFileSync } from "node:fs";
import type { LaneKey } from "./lane-names.ts";

/** Which keys each script names, in the order of its header. */
export const KEYS_OF = {
  queue: ["wait", "body"],
  enter: ["lock", "wait", "body", "seat", "done", "tries"],
  handoff: ["lock", "wait", "body", "seat", "done", "tries"],
  renew: ["lock"],
  leave: ["lock", "wait", "body", "seat", "tries"],
  "step-back": ["lock", "wait", "seat", "done"],
  withdraw: ["wait", "body", "seat", "done"],
  inspect: ["lock", "wait", "body", "seat", "done", "tries"],
  "sweep-outcomes": ["done"],
  heal: ["lock", "wait", "body", "seat", "done", "tries"],
} as const satisfies Record<string, readonly LaneKey[]>;

export type ScriptName = keyof typeof KEYS_OF;

/** What is sent to Redis: a script with the parts it uses put before it, in the order it names them. */
export function scriptText(name: ScriptName): string {
  const source = read(name);
  const parts = [...source.matchAll(/^-- use: (\S+)$/gm)].map(([, part]) => read(`parts/${part}`));
  return [...parts, source].join("\n");
}

function read(path: string): string {
  return readFileSync(new URL(`../lua/${path}.lua`, import.meta.url), "utf8");
}
