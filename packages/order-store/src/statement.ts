import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type Compilable,
  type RawBuilder,
} from "kysely";
import type { DB } from "./schema.ts";

/**
 * Builds and types SQL, and never executes it: kysely's own drivers wait for each answer inside a transaction, whereas a
 * {@link Trip} sends all its statements at once. Execution is `session.ts`.
 */
export const db: Kysely<DB> = new Kysely<DB>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** What may stand for a parameter: only values that the driver can serialise without failing half-way through a trip. */
export type ParameterValue = string | number | boolean | null | readonly string[] | readonly number[];
export type ParameterValues = Record<string, ParameterValue>;
/** For a statement without parameters. */
export type NoValues = Record<string, never>;
type Placeholders<Values extends ParameterValues> = { readonly [Name in keyof Values]: RawBuilder<never> };

class Placeholder {
  readonly parameter: string;
  constructor(parameter: string) {
    this.parameter = parameter;
  }
}

/** One SQL text with its own name, compiled once; the server prepares it once a connection under that name. */
export interface Statement<Values extends ParameterValues, Row> {
  readonly name: string;
  readonly text: string;
  /** In the order of `$1`, `$2` …: a parameter's name, or a constant of the statement. */
  readonly parameters: readonly (Placeholder | ParameterValue)[];
  /** Only carries the type of the values. */
  readonly takes?: Values;
  /** Only carries the row's type from the query that was compiled; never set. */
  readonly row?: Row;
}

/** A statement with its values, ready to be sent. */
export interface BoundStatement<Row> {
  readonly name: string;
  readonly text: string;
  readonly values: readonly ParameterValue[];
  readonly row?: Row;
}

/** Compiles `build` with a placeholder for each parameter it names. */
export function statement<Values extends ParameterValues>(): <Row>(
  name: string,
  build: (parameter: Placeholders<Values>) => Compilable<Row>,
) => Statement<Values, Row> {
  return (name, build) => {
    const placeholders = new Proxy<Placeholders<Values>>({} as Placeholders<Values>, {
      get: (_target, parameter) => sql`${new Placeholder(String(parameter))}`,
    });
    const compiled = build(placeholders).compile();
    const parameters = compiled.parameters as readonly (Placeholder | ParameterValue)[];
    return { name: `junban_${name}`, text: compiled.sql, parameters };
  };
}

/** Pairs a statement with its values, in the order of its parameters. */
export function bind<Values extends ParameterValues, Row>(
  { name, text, parameters }: Statement<Values, Row>,
  values: Values,
): BoundStatement<Row> {
  return {
    name,
    text,
    values: parameters.map((parameter) =>
      parameter instanceof Placeholder ? (values[parameter.parameter] as ParameterValue) : parameter,
    ),
  };
}

/** `column = any(array)`, which keeps one text however many values there are. */
export function anyOf(values: RawBuilder<never>): RawBuilder<string> {
  return sql<string>`any(${values}::text[])`;
}
