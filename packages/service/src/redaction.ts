import {
  beginningOf,
  withoutPassword,
  withoutPasswords,
  withoutPersonalData,
  withoutTokens,
} from "./secrets.ts";

const REDACTED = "[redacted]";

/**
 * Names under which payloads and secrets travel, compared without case, dashes and underscores. `args`, `parameters` and
 * `values` are what database and Redis clients attach to their errors: the very payload that was being written.
 */
const HIDDEN_NAMES: ReadonlySet<string> = new Set(
  [
    "data",
    "payload",
    "body",
    "event",
    "envelope",
    "raw",
    "excerpt",
    "args",
    "parameters",
    "values",
    "detail",
    "where",
  ].concat([
    "password",
    "passphrase",
    "secret",
    "apikey",
    "accesstoken",
    "authorization",
    "cookie",
    "connectionstring",
  ]),
);

/** Limits on what one log entry may carry: an entry is read by people, and a runaway object must not fill a disk. */
const MAX_DEPTH = 6;
const MAX_ELEMENTS = 50;
const MAX_TEXT = 2_000;

/** A copy of plain data for a log entry: payloads and secrets hidden, addresses without passwords, everything bounded. */
export function redactedFields(fields: object): Record<string, unknown> {
  return fields instanceof Error ? { err: copyError(fields, 0) } : copyFields(fields, 0);
}

/** A log message, an identifier, or any other text. */
export function redactedText(text: string): string {
  return withoutPersonalData(withoutTokens(withoutPasswords(beginningOf(text, MAX_TEXT))));
}

/** What went wrong, in one line for people: the message without values that the error quotes, and without secrets. */
export function errorLine(error: unknown): string {
  return error instanceof Error ? errorText(error, error.message) : redactedText(String(error));
}

function copyFields(fields: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields).slice(0, MAX_ELEMENTS)) {
    copy[name] = copyField(name, value, depth);
  }
  return copy;
}

function copyField(name: string, value: unknown, depth: number): unknown {
  const plainName = name.toLowerCase().replaceAll(/[-_]/g, "");
  if (value === undefined || value === null) return value;
  if (HIDDEN_NAMES.has(plainName)) return REDACTED;
  // Under this name the fleet's lines say in short what went wrong; `err` has the whole error.
  if (plainName === "error" && value instanceof Error) return errorLine(value);
  const isAddress = typeof value === "string" && plainName.endsWith("url");
  return isAddress ? withoutPassword(beginningOf(value, MAX_TEXT)) : copyValue(value, depth);
}

function copyValue(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string": {
      // Identifiers, too: nothing stops a producer from calling an order by a card number or an e-mail address.
      return redactedText(value);
    }
    case "bigint": {
      return value.toString();
    }
    case "function":
    case "symbol": {
      return `[${typeof value}]`;
    }
    case "object": {
      return value === null ? null : copyObject(value, depth);
    }
    default: {
      return value;
    }
  }
}

function copyObject(value: object, depth: number): unknown {
  if (value instanceof Error) return copyError(value, depth);
  if (depth >= MAX_DEPTH) return "[too deep]";
  if (value instanceof Date) return value;
  if (value instanceof URL) return withoutPassword(value.href);
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ELEMENTS).map((element) => copyValue(element, depth + 1));
  }
  const isBulk = ArrayBuffer.isView(value) || value instanceof Map || value instanceof Set;
  return isBulk ? `[${value.constructor.name}]` : copyFields(value, depth + 1);
}

/** What an error may say. Libraries hang statements, arguments and rows on theirs, so the rest is left out by default. */
const ERROR_FIELDS = [
  "code",
  "severity",
  "constraint",
  "table",
  "column",
  "routine",
  "syscall",
  "address",
  "port",
] as const;

function copyError(error: Error, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {
    type: error.name,
    message: errorText(error, error.message),
    stack: errorText(error, error.stack ?? ""),
  };
  for (const name of ERROR_FIELDS) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value === "string" || typeof value === "number") copy[name] = value;
  }
  if (depth >= MAX_DEPTH) return copy;
  if (error.cause !== undefined) copy["cause"] = copyValue(error.cause, depth + 1);
  if (error instanceof AggregateError) {
    copy["errors"] = error.errors.slice(0, MAX_ELEMENTS).map((inner) => copyValue(inner, depth + 1));
  }
  return copy;
}

function errorText(error: Error, text: string): string {
  const code: unknown = Reflect.get(error, "code");
  const state = typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : "";
  if (state.startsWith("P0")) return "(what a function of the database raised)";
  // Postgres quotes the value it cannot read in its errors of class 22 (data exceptions). Other classes quote names only.
  const unquoted = state.startsWith("22") ? text.replaceAll(/"[^"]*"/g, '"…"') : text;
  // Redis repeats what it was sent when it does not know a command.
  return redactedText(unquoted.replaceAll(/, with args beginning with:[^\n]*/g, ""));
}
