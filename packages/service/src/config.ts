import type { z } from "zod";
import { ConfigError, type ConfigProblem } from "./errors.ts";
import { nearest } from "./nearest.ts";
import { redactedText } from "./redaction.ts";
import { isAddress, withoutPassword } from "./secrets.ts";
import { TRACE_VARIABLES, traceSettingsOf, type TraceSettings } from "./trace-variables.ts";
import type { Variable } from "./variable-kinds.ts";
import { DATABASE_URL, FOREIGN_NAMES, REDIS_URL, VARIABLES } from "./variables.ts";

/** A service that a process cannot do without. */
export type Need = "database" | "redis";

type Variables = Readonly<Record<string, Variable<unknown>>>;
type ValuesOf<Names extends Variables> = { readonly [Key in keyof Names]: z.output<Names[Key]["schema"]> };
type Settings = ValuesOf<typeof VARIABLES>;

/** Every variable under its name in code. The addresses of services that were not asked for may be missing. */
export type Config<Needed extends Need = Need> = Settings & {
  /** Null when no traces are exported. */
  readonly traces: TraceSettings | null;
} & ("database" extends Needed ? { readonly databaseUrl: string } : { readonly databaseUrl?: string }) &
  ("redis" extends Needed ? { readonly redisUrl: string } : { readonly redisUrl?: string });

export interface ConfigOptions {
  /** Further names that begin with JUNBAN_ and are this process's own business. */
  alsoKnown?: readonly string[];
}

/**
 * Reads and checks the whole environment, so that a mistake ends a process at its start and not at its first busy hour.
 * Throws ConfigError with every problem found. Variables whose names do not begin with ours are not looked at.
 */
export function readConfig<const Needs extends readonly Need[] = readonly ["database", "redis"]>(
  env: NodeJS.ProcessEnv,
  need?: Needs,
  options: ConfigOptions = {},
): Config<Needs[number]> {
  const needed: readonly Need[] = need ?? ["database", "redis"];
  const problems: ConfigProblem[] = [];
  const settings = readValues(VARIABLES, env, problems);
  // Relations are judged only between values that are good by themselves; otherwise one mistake is told twice.
  if (problems.length === 0) problems.push(...brokenRelations(settings));
  const traces = traceSettingsOf(readValues(TRACE_VARIABLES, withoutEmpty(env), problems));
  const databaseUrl = readAddress(
    env,
    { variable: DATABASE_URL, isNeeded: needed.includes("database") },
    problems,
  );
  const redisUrl = readAddress(env, { variable: REDIS_URL, isNeeded: needed.includes("redis") }, problems);
  problems.push(...unknownNames(env, options.alsoKnown ?? []));
  if (problems.length > 0) throw new ConfigError({ problems });
  const addresses = {
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(redisUrl === undefined ? {} : { redisUrl }),
  };
  // Every address that was asked for is there, or there would have been a problem.
  return { ...settings, traces, ...addresses } as Config<Needs[number]>;
}

function readValues<Names extends Variables>(
  variables: Names,
  env: NodeJS.ProcessEnv,
  problems: ConfigProblem[],
): ValuesOf<Names> {
  const read = Object.entries(variables).map(([key, variable]) => {
    const value = env[variable.name];
    if (value === undefined) return [key, variable.fallback];
    const parsed = variable.schema.safeParse(value);
    if (parsed.success) return [key, parsed.data];
    const told = variable.isSecret === true ? "(hidden)" : shown(redactedText(value));
    problems.push({ variable: variable.name, value: told, allowed: variable.allowed });
    return [key, variable.fallback];
  });
  return Object.fromEntries(read) as ValuesOf<Names>;
}

/** Variables of a standard by which what is set to nothing is not set. */
function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}

function readAddress(
  env: NodeJS.ProcessEnv,
  wanted: { variable: Omit<Variable<string>, "fallback">; isNeeded: boolean },
  problems: ConfigProblem[],
): string | undefined {
  const { name, schema, allowed } = wanted.variable;
  const value = env[name];
  if (value === undefined) {
    if (wanted.isNeeded) problems.push({ variable: name, value: null, allowed });
    return undefined;
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // What is no address cannot be stripped of its password with certainty, so it is not shown at all.
  problems.push({
    variable: name,
    value: value === "" || isAddress(value) ? shown(withoutPassword(value)) : "(hidden)",
    allowed,
  });
  return undefined;
}

function brokenRelations(settings: Settings): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const key of ["statementTimeoutMs", "lockTimeoutMs", "idleTransactionTimeoutMs"] as const) {
    if (settings[key] < settings.leaseMs) continue;
    problems.push({
      variable: VARIABLES[key].name,
      value: String(settings[key]),
      allowed: `below JUNBAN_LEASE_MS (${settings.leaseMs}), so that Postgres ends a frozen worker's transaction before others take over`,
    });
  }
  const slots = settings.concurrency * settings.families.length;
  if (slots < 2 * settings.laneBatch) {
    const least = Math.ceil((2 * settings.laneBatch) / settings.families.length);
    problems.push({
      variable: "JUNBAN_CONCURRENCY",
      value: String(settings.concurrency),
      allowed: `at least ${least}: all families served (${settings.families.length}) need twice JUNBAN_LANE_BATCH (${settings.laneBatch}) slots together`,
    });
  }
  if (settings.crashGiveUp < settings.crashAlone) {
    problems.push({
      variable: "JUNBAN_CRASH_GIVE_UP",
      value: String(settings.crashGiveUp),
      allowed: `at least JUNBAN_CRASH_ALONE (${settings.crashAlone})`,
    });
  }
  return problems;
}

/** A misspelt name would otherwise leave its default in force without a word. */
function unknownNames(env: NodeJS.ProcessEnv, alsoKnown: readonly string[]): readonly ConfigProblem[] {
  const ours = [...Object.values(VARIABLES), DATABASE_URL, REDIS_URL].map((variable) => variable.name);
  const known = [...ours, ...FOREIGN_NAMES, ...alsoKnown];
  return Object.keys(env)
    .filter((name) => name.startsWith("JUNBAN_") && !known.includes(name) && !isServiceLink(env, name))
    .toSorted()
    .map((variable) => {
      // LOG_LEVEL and the addresses have no prefix, and are easily given one.
      const similar = nearest(variable, known) ?? nearest(variable.slice("JUNBAN_".length), known);
      return {
        variable,
        value: "(unknown variable)",
        allowed:
          similar === undefined ? "nothing; there is no such variable" : `nothing; did you mean ${similar}?`,
      };
    });
}

/** Kubernetes adds JUNBAN_…_SERVICE_HOST, …_PORT and more to every container beside a service whose name begins with junban. */
function isServiceLink(env: NodeJS.ProcessEnv, name: string): boolean {
  const found =
    /^(JUNBAN(?:_[A-Z0-9_]+?)?)_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)?)$/.exec(
      name,
    );
  return found !== null && env[`${found[1]}_SERVICE_HOST`] !== undefined;
}

function shown(value: string): string {
  return value.length > 80 ? `${value.slice(0, 80)}…` : value;
}
