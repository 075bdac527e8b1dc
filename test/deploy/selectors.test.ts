import { describe, expect, test } from "vitest";
import { kustomized, type Manifest } from "./kustomize.ts";
import { workloads, type Workload } from "./launches.ts";

const pods = workloads();
const base = kustomized("deploy/kubernetes/base");
const roles = ["worker", "relay", "gateway", "console", "migrate"];
/** Of which there is more than one, so that one may go. */
const several = base.filter(
  ({ kind, spec }) => kind === "Deployment" && (spec as { replicas: number }).replicas > 1,
);

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In";
    readonly values: readonly string[];
  }[];
}

interface PolicySpec {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly {
    readonly from?: readonly unknown[];
    readonly ports: readonly { readonly port: number }[];
  }[];
  readonly egress?: readonly {
    readonly to?: readonly unknown[];
    readonly ports: readonly { readonly port: number }[];
  }[];
}

describe("the pods of the fleet", () => {
  test("are those of every role", () => {
    expect(pods.map(({ role }) => role).toSorted()).toEqual(roles.toSorted());
  });

  test("may do nothing that they need not", () => {
    for (const { name, pod } of pods) {
      expect(pod, name).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10001,
          runAsGroup: 10001,
          seccompProfile: { type: "RuntimeDefault" },
        },
      });
      expect(pod.containers, name).toHaveLength(1);
      expect(pod.containers[0].securityContext, name).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  test("say what they need, and no limit throttles them", () => {
    for (const { name, pod } of pods) {
      const { requests, limits } = pod.containers[0].resources;
      expect(Object.keys(requests), name).toEqual(["cpu", "memory"]);
      expect(Object.keys(limits), name).toEqual(["memory"]);
    }
  });

  test("are spread over zones and machines by their own labels, and each deployment selects its own", () => {
    for (const { metadata, spec } of several) {
      const { selector, template } = spec as {
        selector: Selector;
        template: { spec: { topologySpreadConstraints: { topologyKey: string; labelSelector: Selector }[] } };
      };
      const spread = template.spec.topologySpreadConstraints;
      expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
      ]);
      for (const wanted of [selector, ...spread.map(({ labelSelector }) => labelSelector)]) {
        expect(selected(wanted).map(({ name }) => name)).toEqual([metadata.name]);
      }
    }
  });
});

describe("disruptions", () => {
  test("leave the console alone with its sessions: it is one pod, and nothing holds up whoever has to move it", () => {
    const console = base.find(
      ({ kind, metadata }) => kind === "Deployment" && metadata.name === "junban-console",
    );
    expect(console?.spec).toMatchObject({ replicas: 1 });
  });

  test("take one pod of a role at a time, of each role that serves", () => {
    const budgets = base.filter(({ kind }) => kind === "PodDisruptionBudget");
    const reached = budgets.map(({ metadata, spec }) => {
      const { selector, maxUnavailable } = spec as { selector: Selector; maxUnavailable: number };
      expect(maxUnavailable, metadata.name).toBe(1);
      return [metadata.name, selected(selector).map(({ name }) => name)];
    });
    expect(reached).toEqual(several.map(({ metadata: { name } }) => [name, [name]]));
  });
});

describe("the network", () => {
  const policies = base.filter(({ kind }) => kind === "NetworkPolicy");
  const specOf = ({ spec }: Manifest): PolicySpec => spec as PolicySpec;

  test("is closed for every pod, both ways, until something is allowed", () => {
    const closing = policies.filter((policy) => {
      const { policyTypes, ingress, egress } = specOf(policy);
      return policyTypes.length === 2 && ingress === undefined && egress === undefined;
    });
    expect(closing).toHaveLength(1);
    expect(selected(specOf(closing[0] as Manifest).podSelector)).toEqual(pods);
  });

  test.each([
    ["worker", [53, 53, 5432, 6379], [9464]],
    ["relay", [53, 53, 5432, 6379], [9464]],
    ["gateway", [53, 53, 6379], [8464, 9464]],
    ["console", [53, 53, 5432, 6379], [7464, 9464]],
    ["migrate", [53, 53, 5432], []],
  ])("lets a %s out to %j and in at %j, and no further", (role, out, into) => {
    const mine = policies
      .map(specOf)
      .filter(({ podSelector }) => selected(podSelector).some((pod) => pod.role === role));
    const numbers = (ports: readonly { readonly port: number }[]): number[] => ports.map(({ port }) => port);
    const byNumber = (a: number, b: number): number => a - b;
    const outward = mine.flatMap(({ egress = [] }) => egress.flatMap(({ ports }) => numbers(ports)));
    const inward = mine.flatMap(({ ingress = [] }) => ingress.flatMap(({ ports }) => numbers(ports)));
    expect(outward.toSorted(byNumber)).toEqual(out);
    expect(inward.toSorted(byNumber)).toEqual(into);
    for (const { ingress = [] } of mine) {
      for (const rule of ingress) expect(rule.from?.length ?? 0, "from anywhere").toBeGreaterThan(0);
    }
  });

  test.each([
    ["gateway", "requests"],
    ["console", "pages"],
  ])("leads the service of the %s to its pods and its port for %s", (role, port) => {
    const service = base.find(
      ({ kind, metadata }) => kind === "Service" && metadata.name === `junban-${role}`,
    );
    expect(service).toBeDefined();
    const { selector, ports } = service!.spec as {
      selector: Record<string, string>;
      ports: { targetPort: string }[];
    };
    expect(selected({ matchLabels: selector }).map((pod) => pod.role)).toEqual([role]);
    expect(ports.map(({ targetPort }) => targetPort)).toEqual([port]);
  });

  test("of an overlay leads to the addresses of Redis and Postgres alone", () => {
    const narrowed = kustomized("deploy/kubernetes/overlays/example").filter(({ metadata }) =>
      /-to-(redis|postgres)$/.test(metadata.name),
    );
    expect(narrowed).toHaveLength(2);
    for (const policy of narrowed) {
      const leadsTo = (specOf(policy).egress ?? []).map(({ to }) => to);
      expect(leadsTo, policy.metadata.name).toEqual([[{ ipBlock: expect.anything() as unknown }]]);
    }
  });
});

function selected({ matchLabels = {}, matchExpressions = [] }: Selector): Workload[] {
  return pods.filter(
    ({ labels }) =>
      Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
      matchExpressions.every(
        ({ key, operator, values }) => operator === "In" && values.includes(labels[key] ?? ""),
      ),
  );
}
