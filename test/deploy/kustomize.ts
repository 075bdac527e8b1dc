import { existsSync } from "node:fs";
import { posix } from "node:path";
import { parse } from "yaml";
import { readYaml, ROOT } from "./checkout.ts";

/** An object as the cluster would get it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
}

interface Kustomization {
  readonly namespace?: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly images?: readonly { name: string; newName: string; newTag: string }[];
  readonly patches?: readonly { target: { kind: string; name: string }; patch: string }[];
}

type Json = { [key: string]: Json } | Json[] | string | number | boolean | null;

/**
 * What `kubectl kustomize` makes of a folder, as far as these manifests use it: resources, components, a namespace, images,
 * and patches that add and remove. Anything else is refused, so that it cannot be overlooked.
 */
export function kustomized(folder: string): Manifest[] {
  const [file] = readYaml(`${folder}/kustomization.yaml`) as Kustomization[];
  const { namespace, resources, components, images, patches, ...others } = file ?? {};
  const unknown = Object.keys(others).filter((key) => key !== "apiVersion" && key !== "kind");
  if (unknown.length > 0) throw new Error(`${folder}: this test does not know ${unknown.join(", ")}`);
  let made = (resources ?? []).flatMap((path) => resource(posix.join(folder, path)));
  for (const path of components ?? []) made = withComponent(made, posix.join(folder, path));
  made = patched(made, patches ?? []);
  for (const manifest of made as unknown as { metadata: { namespace?: string } }[]) {
    if (namespace !== undefined) manifest.metadata.namespace = namespace;
  }
  return made.map((manifest) => withImages(manifest, images ?? [])) as unknown as Manifest[];
}

function resource(path: string): Json[] {
  const isFolder = existsSync(`${ROOT}${path}/kustomization.yaml`);
  return (isFolder ? kustomized(path) : readYaml(path)) as Json[];
}

/** A component adds to what is there, and may patch it. */
function withComponent(manifests: readonly Json[], folder: string): Json[] {
  const { resources, patches } = readYaml(`${folder}/kustomization.yaml`)[0] as Kustomization;
  const added = (resources ?? []).flatMap((path) => resource(posix.join(folder, path)));
  return patched([...manifests, ...added], patches ?? []);
}

function patched(manifests: readonly Json[], patches: NonNullable<Kustomization["patches"]>): Json[] {
  const made = structuredClone(manifests) as Json[];
  for (const { target, patch } of patches) {
    const found = (made as unknown as Manifest[]).filter(
      ({ kind, metadata }) => kind === target.kind && metadata.name === target.name,
    );
    if (found.length !== 1) throw new Error(`${found.length} objects are ${target.kind} ${target.name}`);
    const steps = parse(patch) as { op: "add" | "remove"; path: string; value?: Json }[];
    for (const step of steps) applyStep(found[0] as unknown as Json, step);
  }
  return made;
}

function applyStep(manifest: Json, { op, path, value }: { op: string; path: string; value?: Json }): void {
  const keys = path.split("/").slice(1);
  const last = keys.pop() ?? "";
  let at = manifest as { [key: string]: Json };
  for (const key of keys) {
    if (!Object.hasOwn(at, key)) throw new Error(`${path} leads nowhere`);
    at = at[key] as { [key: string]: Json };
  }
  if (op === "add" && value !== undefined && Array.isArray(at) && last === "-") at.push(value);
  else if (op === "add" && value !== undefined) at[last] = value;
  else if (op === "remove" && Object.hasOwn(at, last)) Reflect.deleteProperty(at, last);
  else throw new Error(`${op} ${path} cannot be done`);
}

function withImages(manifest: Json, images: NonNullable<Kustomization["images"]>): Json {
  const text = JSON.stringify(manifest);
  return JSON.parse(text, (key, value: unknown) => {
    const image = key === "image" ? images.find(({ name }) => name === value) : undefined;
    return image === undefined ? value : `${image.newName}:${image.newTag}`;
  }) as Json;
}
