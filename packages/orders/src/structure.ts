import { MAX_EVENT_BYTES } from "./envelope.ts";
import type { RuleBroken } from "./envelope.ts";
import { isKeepable } from "./text-rules.ts";

/** How deep objects and lists may nest inside one attribute; `data` itself is the first level. */
const MAX_LEVELS = 32;

export const SIZE_RULE = `at most ${MAX_EVENT_BYTES} bytes as JSON`;
const LEVELS_RULE = `at most ${MAX_LEVELS} levels of nesting`;
const TEXT_RULE = "no NUL and no lone surrogate";
const KEY_RULE = "no __proto__ and no constructor.prototype";
const FINITE_RULE = "a finite number";
const SAFE_RULE = "an integer of at most 2^53 - 1 in size";
const PLAIN_RULE = "plain JSON: objects, lists, strings, numbers, booleans, null";

export const NOT_JSON_RULE = "a value that can be written as JSON";

/** The rules whose breaking keeps an event from being written down, so that a verdict stands for it. */
const VERDICT_RULES: ReadonlySet<string> = new Set([
  SIZE_RULE,
  LEVELS_RULE,
  FINITE_RULE,
  PLAIN_RULE,
  NOT_JSON_RULE,
]);

const MAX_FIELD_CHARACTERS = 200;
/** What looks like a field's name; a number of some length, or a text with spaces, is rather somebody's data. */
const SPEAKABLE_KEY = /^[A-Za-z_][A-Za-z_-]{0,31}[0-9]{0,3}$/;
const SPEAKABLE_FIELD = /^(?:[A-Za-z_][A-Za-z_-]{0,31}[0-9]{0,3}|\?|\[[0-9]{1,5}\]|\.){1,70}$/;

/** What to look for: everything that makes data invalid, or only what cannot be written as bounded JSON text without loss. */
export type Strictness = "valid" | "writable";

/** A fault "of form" can be cured by writing the value as JSON and reading it back: dates, class instances, holes in lists. */
export interface StructuralFault extends RuleBroken {
  readonly ofForm: boolean;
}

export type StructureReading =
  | { readonly kind: "sound"; readonly mostBytes: number }
  | { readonly kind: "faulty"; readonly fault: StructuralFault };

interface Finding {
  /** From the inside out: each level adds its key on the way back, so that a sound value costs no paths. */
  readonly path: (string | number)[];
  readonly rule: string;
  readonly ofForm: boolean;
}

/**
 * Walks an event once, before anything else looks inside. Bounded in depth and in size, so that it ends on whatever it is
 * given, cyclic values included. `mostBytes` is an upper bound of the size as JSON.
 */
export function readStructure(event: object, strictness: Strictness): StructureReading {
  const walk = new StructureWalk(strictness);
  const finding = walk.visitObject(event, 0);
  if (finding === null) return { kind: "sound", mostBytes: walk.mostBytes() };
  return {
    kind: "faulty",
    fault: { field: fieldOf(finding.path), rule: finding.rule, ofForm: finding.ofForm },
  };
}

class StructureWalk {
  readonly #isStrict: boolean;
  #textUnits = 0;
  #values = 0;

  constructor(strictness: Strictness) {
    this.#isStrict = strictness === "valid";
  }

  mostBytes(): number {
    // A unit of text is escaped to at most six bytes, a number takes at most 25, and each value may need a colon, a comma and quotes.
    return 6 * this.#textUnits + 29 * this.#values;
  }

  visitObject(value: object, level: number): Finding | null {
    if (level > MAX_LEVELS) return found(LEVELS_RULE);
    if (Array.isArray(value)) return this.#visitList(value, level);
    if (!isPlainObject(value)) return found(PLAIN_RULE, true);
    const record = value as Record<string, unknown>;
    for (const key of Object.keys(record)) {
      const member = record[key];
      // What JSON would leave out is not there for us either.
      if (member === undefined) continue;
      const finding = this.#visitKey(key, member) ?? this.#visit(member, level);
      if (finding === null) continue;
      finding.path.push(key);
      return finding;
    }
    return null;
  }

  #visitList(list: readonly unknown[], level: number): Finding | null {
    for (let index = 0; index < list.length; index += 1) {
      const finding = this.#visit(list[index], level);
      if (finding === null) continue;
      finding.path.push(index);
      return finding;
    }
    return null;
  }

  #visitKey(key: string, member: unknown): Finding | null {
    this.#textUnits += key.length;
    if (!this.#isStrict) return null;
    if (!isKeepable(key)) return found(TEXT_RULE);
    return reachesPrototypes(key, member) ? found(KEY_RULE) : null;
  }

  #visit(value: unknown, level: number): Finding | null {
    this.#values += 1;
    if (this.#textUnits + this.#values > MAX_EVENT_BYTES) return found(SIZE_RULE);
    switch (typeof value) {
      case "string":
        this.#textUnits += value.length;
        return this.#isStrict && !isKeepable(value) ? found(TEXT_RULE) : null;
      case "number":
        return this.#visitNumber(value);
      case "boolean":
        return null;
      case "object":
        return value === null ? null : this.visitObject(value, level + 1);
      default:
        return found(PLAIN_RULE, true);
    }
  }

  #visitNumber(value: number): Finding | null {
    // JSON has no infinity: 1e400 would be kept as null. And an integer beyond 2^53 is already not the one that was sent.
    if (!Number.isFinite(value)) return found(FINITE_RULE);
    if (this.#isStrict && Number.isInteger(value) && !Number.isSafeInteger(value)) return found(SAFE_RULE);
    return null;
  }
}

/** Whether these are the words of {@link readStructure}, and not of whoever wrote them into an event. */
export function isOwnVerdict({ field, rule }: { readonly field: unknown; readonly rule: unknown }): boolean {
  return (
    typeof field === "string" &&
    field.length <= MAX_FIELD_CHARACTERS &&
    SPEAKABLE_FIELD.test(field) &&
    VERDICT_RULES.has(rule as string)
  );
}

function found(rule: string, ofForm = false): Finding {
  return { path: [], rule, ofForm };
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The last test accepts the plain objects of another realm, whose Object.prototype is not ours.
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function reachesPrototypes(key: string, member: unknown): boolean {
  // Lengths first: nearly no key has one of these.
  if (key.length === 9) return key === "__proto__";
  if (key.length === 21) return key === "constructor.prototype";
  if (key.length !== 11 || key !== "constructor") return false;
  return typeof member === "object" && member !== null && Object.hasOwn(member, "prototype");
}

/** Keys of an unknown payload are its author's words: only a plain identifier is repeated. */
function fieldOf(insideOut: readonly (string | number)[]): string {
  let field = "";
  for (let index = insideOut.length - 1; index >= 0; index -= 1) {
    const step = insideOut[index];
    if (step === undefined) continue;
    if (typeof step === "number") field += `[${step}]`;
    else field += `${field === "" ? "" : "."}${SPEAKABLE_KEY.test(step) ? step : "?"}`;
    if (field.length > MAX_FIELD_CHARACTERS) return `${field.slice(0, MAX_FIELD_CHARACTERS - 3)}...`;
  }
  return field === "" ? "event" : field;
}
