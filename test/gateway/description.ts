import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";

/** The document the gateway serves, as far as tests read it. */
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: { readonly Event: object };
  };
}

interface Operation {
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

interface Response {
  readonly headers?: Readonly<Record<string, { readonly schema: object; readonly required?: boolean }>>;
  readonly content: { readonly "application/json": { readonly schema: object } };
}

const DOCUMENT_FILE = new URL("../../apps/gateway/openapi.json", import.meta.url);

export function readDescription(): Description {
  return JSON.parse(readFileSync(DOCUMENT_FILE, "utf8")) as Description;
}

export interface Given {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly document: unknown;
}

/** Fails unless the document describes this status for this address, with these headers and this body. */
export function expectDescribed(given: Given): void {
  const description = readDescription();
  const operation = description.paths[given.path]?.[given.method.toLowerCase()];
  // What is not in the document has one answer, in the form of all the others.
  if (operation === undefined) {
    expect(given.status).toBe(404);
    return;
  }
  const found = operation.responses[String(given.status)];
  expect(found, `${given.method} ${given.path} ${given.status} is described`).toBeDefined();
  if (found === undefined) return;
  const response =
    "$ref" in found ? description.components.responses[found.$ref.split("/").at(-1) ?? ""] : found;
  expect(response).toBeDefined();
  if (response === undefined) return;
  expect(given.headers["content-type"]).toBe("application/json; charset=utf-8");
  expectValid(description, response.content["application/json"].schema, given.document);
  for (const [name, { schema, required = false }] of Object.entries(response.headers ?? {})) {
    const value = given.headers[name.toLowerCase()];
    if (value === undefined && !required) continue;
    expect(value, name).toBeDefined();
    expectValid(description, schema, Number.isNaN(Number(value)) ? value : Number(value));
  }
}

/** Tells whether the document says of a value that it is an event which is taken. */
export function createEventValidator(): ValidateFunction {
  const description = readDescription();
  return validatorOf(description, description.components.schemas.Event);
}

function expectValid(description: Description, schema: object, value: unknown): void {
  const validate = validatorOf(description, schema);
  validate(value);
  expect(validate.errors ?? [], JSON.stringify(value)).toEqual([]);
}

function validatorOf({ components }: Description, schema: object): ValidateFunction {
  return new Ajv2020({ strict: false, allErrors: true }).compile({ ...schema, components });
}
