import { hash } from "node:crypto";

const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/**
 * JSON with sorted keys: one text for every spelling of one value. For plain JSON values of bounded depth; what JSON leaves
 * out is left out here too.
 */
export function canonicalText(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return canonicalList(value);
  const record = value as Record<string, unknown>;
  let text = "";
  for (const key of Object.keys(record).toSorted()) {
    const member = record[key];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${quoted(key)}:${canonicalText(member)}`;
  }
  return `{${text}}`;
}

/** 128 bits of SHA-256, as 22 characters of base64url. */
export function digestOf(text: string): string {
  return hash("sha256", text, "buffer").toString("base64url", 0, 16);
}

function canonicalList(list: readonly unknown[]): string {
  let text = "";
  for (let index = 0; index < list.length; index += 1) {
    text += `${index === 0 ? "" : ","}${canonicalText(list[index])}`;
  }
  return `[${text}]`;
}

function quoted(text: string): string {
  // Printable ASCII without quote and backslash needs no escaping, and nearly every text is of that kind.
  return PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text);
}
