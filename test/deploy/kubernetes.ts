import { Ajv } from "ajv";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Job } from "kubernetes-models/batch/v1";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service, ServiceAccount } from "kubernetes-models/v1";
import { SCALED_OBJECT, TRIGGER_AUTHENTICATION } from "./keda.ts";
import type { Manifest } from "./kustomize.ts";

const KINDS = [
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
];

const KEDA = new Ajv({ strict: true, allErrors: true });
const KEDA_KINDS: Readonly<Record<string, ReturnType<Ajv["compile"]>>> = {
  ScaledObject: KEDA.compile(SCALED_OBJECT),
  TriggerAuthentication: KEDA.compile(TRIGGER_AUTHENTICATION),
};

/** What Kubernetes' own schema, or KEDA's, has against an object; also fields that it does not know and would drop. */
export function faultsOf(manifest: Manifest): string[] {
  const at = `${manifest.kind} ${manifest.metadata.name}`;
  if (manifest.apiVersion === "keda.sh/v1alpha1") {
    const validate = KEDA_KINDS[manifest.kind];
    if (validate === undefined) return [`${at}: a kind that KEDA does not have`];
    return validate(manifest)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${at}${instancePath} ${message}`);
  }
  const model = KINDS.find(
    ({ apiVersion, kind }) => apiVersion === manifest.apiVersion && kind === manifest.kind,
  );
  if (model === undefined) return [`${at}: a kind that this test does not know`];
  const unread = new Set<string>();
  try {
    // The schema's generated checks look at every field that they know, and pass the others without a look.
    (model.prototype as { validate(): void }).validate.call(watched(manifest, "", unread));
  } catch (error) {
    return [`${at}: ${String(error)}`];
  }
  return [...unread].map((path) => `${at}${path} is no field`);
}

/** The same value, which strikes each path off the list when it is read. */
function watched<T>(value: T, path: string, unread: Set<string>): T {
  if (typeof value !== "object" || value === null) return value;
  const children = new Map(
    Object.entries(value).map(([key, child]: [string, unknown]) => {
      unread.add(`${path}/${key}`);
      return [key, watched(child, `${path}/${key}`, unread)];
    }),
  );
  return new Proxy(value, {
    get: (target, key) => {
      unread.delete(`${path}/${String(key)}`);
      const own = typeof key === "string" && children.has(key);
      return own ? children.get(key) : (Reflect.get(target, key) as unknown);
    },
  });
}
