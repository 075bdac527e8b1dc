import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { read, readYaml, ROOT } from "./checkout.ts";
import { composeFaults } from "./compose-schema.ts";
import { faultsOf } from "./kubernetes.ts";
import { kustomized, type Manifest } from "./kustomize.ts";
import { isOnPath } from "./on-path.ts";

const FOLDERS = ["base", "migrate", "overlays/example", "overlays/example/migrate"].map(
  (folder) => `deploy/kubernetes/${folder}`,
);

const deployment = kustomized("deploy/kubernetes/base").find(({ kind }) => kind === "Deployment");

describe("manifests", () => {
  test.each(FOLDERS)(
    "of %s are what the schemas of Kubernetes and KEDA allow, without a field they do not know",
    (folder) => {
      const manifests = kustomized(folder);
      expect(manifests.length).toBeGreaterThan(0);
      expect(manifests.flatMap(faultsOf)).toEqual([]);
    },
  );

  test("of the autoscaler for clusters without KEDA are so as well", () => {
    const [autoscaler] = parsed(read("deploy/kubernetes/components/prometheus-hpa/autoscaler.yaml"));
    expect(autoscaler === undefined ? ["nothing"] : faultsOf(autoscaler)).toEqual([]);
  });

  test("with a misspelt field, a wrong type or a missing part are refused", () => {
    const change = (
      edit: (spec: { [key: string]: unknown; template: { spec: { [key: string]: unknown } } }) => void,
    ): string[] => {
      const copy = structuredClone(deployment) as Manifest & { spec: Parameters<typeof edit>[0] };
      edit(copy.spec);
      return faultsOf(copy);
    };
    expect(change((spec) => (spec["replicaz"] = 2))).toEqual([
      expect.stringContaining("/spec/replicaz is no field"),
    ]);
    expect(change((spec) => (spec["replicas"] = "two"))).toHaveLength(1);
    expect(change((spec) => Reflect.deleteProperty(spec, "selector"))).toHaveLength(1);
    expect(change(({ template }) => (template.spec["terminationGraceSeconds"] = 3))).toHaveLength(1);
  });

  test.for(FOLDERS)("of %s are put together by kubectl as by these tests", (folder, context) => {
    if (!isOnPath("kubectl")) return context.skip("kubectl is not installed");
    expect(sorted(rendered(folder))).toEqual(sorted(kustomized(folder)));
  });
});

describe("the compose files", () => {
  test.each(["docker-compose.yml", "deploy/compose/compose.yaml"])(
    "%s is what the specification allows",
    (path) => {
      expect(composeFaults(readYaml(path, { merge: true })[0])).toEqual([]);
    },
  );

  test("with a misspelt field are refused", () => {
    expect(composeFaults({ services: { worker: { image: "junban", restarts: "always" } } })).toHaveLength(1);
  });
});

function rendered(folder: string): Manifest[] {
  return parsed(execFileSync("kubectl", ["kustomize", folder], { cwd: ROOT, encoding: "utf8" }));
}

function parsed(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

function sorted(manifests: readonly Manifest[]): Manifest[] {
  const name = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;
  return manifests.toSorted((a, b) => (name(a) < name(b) ? -1 : 1));
}
