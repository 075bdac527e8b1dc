import type { FastifyRequest } from "fastify";
import { Refusal } from "./refusal.ts";
import { sentence } from "./words.ts";

/** Longer than any name the fleet accepts, shorter than anything that would be a burden to look for. */
const LONGEST_FIELD = 1_024;
/** Any origin would do. */
const HERE = "http://console";

/** A field of a form; null where there is none, or an empty one. @throws {Refusal} where there are two. */
export function fieldOf(body: unknown, name: string): string | null {
  if (!(body instanceof URLSearchParams)) return null;
  const [value = "", ...others] = body.getAll(name);
  if (others.length > 0) throw new Refusal("MALFORMED", `The form has ${name} more than once.`);
  return checked(value, name);
}

/** Beside the name's own rule: what no order can be called is not asked for. */
export function isOrderName(text: string): boolean {
  return /^[0-9A-Za-z._:@/+=~-]{1,128}$/.test(text);
}

/** A part of an address; null where there is none, or an empty one. */
export function queryOf({ query }: { readonly query: unknown }, name: string): string | null {
  const value: unknown = Reflect.get(Object(query) as object, name);
  if (Array.isArray(value)) throw new Refusal("MALFORMED", `The address has ${name} more than once.`);
  return typeof value === "string" ? checked(value, name) : null;
}

/** @param name what it is, in words: `the order's name`. */
export function neededOf(value: string | null, name: string): string {
  if (value === null) throw new Refusal("MALFORMED", sentence(`${name} is missing`));
  return value;
}

/** A whole number from 1; null where there is none. */
export function numberOf(request: { readonly query: unknown }, name: string): number | null {
  const value = queryOf(request, name);
  return value !== null && /^[1-9]\d{0,14}$/.test(value) ? Number(value) : null;
}

/** A path of the console's own, whatever an address asks for: `//host` and `/\host` are other places to a browser. */
export function localPath(path: string | null): string {
  const isPath = path !== null && /^\/[!-~]*$/.test(path) && !path.includes("\\");
  if (!isPath || !URL.canParse(path, HERE)) return "/";
  // What counts is where a browser ends up: `/..//host` is such a place too.
  const { origin, pathname, search } = new URL(path, HERE);
  return origin === HERE && !pathname.startsWith("//") ? `${pathname}${search}` : "/";
}

/** The page of the console from which a request says it comes; null where it does not say so. */
export function cameFrom({ headers }: Pick<FastifyRequest, "headers">): string | null {
  const { referer = "", host = "" } = headers;
  if (!URL.canParse(referer)) return null;
  const page = new URL(referer);
  return page.host === host ? localPath(`${page.pathname}${page.search}`) : null;
}

function checked(value: string, name: string): string | null {
  if (value.length > LONGEST_FIELD) throw new Refusal("MALFORMED", `${name} is too long.`);
  // No name holds one, and Postgres takes none.
  if (value.includes("\0")) {
    throw new Refusal("MALFORMED", `${name} holds a character that cannot be stored.`);
  }
  return value === "" ? null : value;
}
