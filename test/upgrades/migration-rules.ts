/**
 * What a migration may do while the workers of the version before it go on: add, without rewriting a table or keeping it
 * locked for as long as it is large. Everything is forbidden that is not listed here.
 */

/** A statement that breaks the rules and may stand all the same, because somebody thought about it. */
export interface Exception {
  readonly migration: string;
  /** How the statement begins, in lower case and with single spaces. */
  readonly begins: string;
  readonly why: string;
}

export interface Violation {
  readonly migration: string;
  readonly statement: string;
  readonly rule: string;
}

const CREATES_TABLE = /^create table (?:if not exists )?([\w.]+) ?\(/;
const CREATES_INDEX = /^create (?:unique )?index (?:if not exists )?[\w.]+ on ([\w.]+)/;
const ALTERS_TABLE = /^alter table (?:if exists )?(?:only )?([\w.]+) (.*)$/;
/** What stands beside the tables and locks none of them. */
const BESIDE = /^(?:create schema|create (?:or replace )?function|comment on|insert into) /;

const ADDS_COLUMN = /^add column (?:if not exists )?\w+ /;
const SETS_STORAGE = /^set \([^)]*\)$/;
/** Takes effect on rows to come, and asks nothing of those that stand. */
const CHECKS_LATER = /^add constraint \w+ .* not valid$/;
const CONSTANT_DEFAULT = / default (?:'[^']*'(?:::\w+)?|-?\d+(?:\.\d+)?|true|false|null)(?: |$)/;

/** The statements of a file of plain SQL, in lower case, without comments and with single spaces. */
export function statementsOf(text: string): string[] {
  const bodies: string[] = [];
  const flat = text
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, (body) => `$body${bodies.push(body)}$`)
    .replaceAll(/--.*$/gm, "")
    .replaceAll(/\s+/g, " ");
  return flat
    .split(/;(?=(?:[^']*'[^']*')*[^']*$)/)
    .map((statement) => statement.trim().toLowerCase())
    .filter((statement) => statement !== "");
}

export function violationsIn(
  migration: string,
  text: string,
  exceptions: readonly Exception[] = [],
): Violation[] {
  const statements = statementsOf(text);
  const created = new Set(statements.flatMap((statement) => CREATES_TABLE.exec(statement)?.[1] ?? []));
  return statements.flatMap((statement) => {
    const rule = ruleBrokenBy(statement, created);
    const excused = exceptions.some(
      (exception) => exception.migration === migration && statement.startsWith(exception.begins),
    );
    return rule === null || excused ? [] : [{ migration, statement, rule }];
  });
}

function ruleBrokenBy(statement: string, created: ReadonlySet<string>): string | null {
  if (CREATES_TABLE.test(statement) || BESIDE.test(statement)) return null;
  const indexed = CREATES_INDEX.exec(statement)?.[1];
  if (indexed !== undefined) {
    return created.has(indexed)
      ? null
      : "an index on a table that stands keeps writers out while it is built";
  }
  const [, table = "", actions = ""] = ALTERS_TABLE.exec(statement) ?? [];
  if (table === "") return "neither adds anything nor is known to be harmless";
  if (created.has(table)) return null;
  for (const action of actionsOf(actions)) {
    const rule = ruleBrokenByAction(action);
    if (rule !== null) return rule;
  }
  return null;
}

/** Split at the commas outside of brackets. */
function actionsOf(actions: string): string[] {
  return actions.split(/,(?![^(]*\))/).map((action) => action.trim());
}

function ruleBrokenByAction(action: string): string | null {
  if (SETS_STORAGE.test(action) || CHECKS_LATER.test(action)) return null;
  if (!ADDS_COLUMN.test(action)) return "changes or takes away what the version before it uses";
  if (/ (?:generated|unique|primary key|references|check)\b/.test(action)) {
    return "a new column that is computed or checked reads or rewrites the table";
  }
  const hasDefault = / default /.test(action);
  if (hasDefault && !CONSTANT_DEFAULT.test(action)) {
    return "a default that is computed for each row rewrites the table";
  }
  if (/ not null\b/.test(action) && !hasDefault) {
    return "the version before it does not know this column and cannot fill it";
  }
  return null;
}
