import { parse } from "yaml";
import { read, readYaml } from "./checkout.ts";
import { kustomized } from "./kustomize.ts";

/** One process as a file starts it. */
export interface Launch {
  /** The file, and what it is called there. */
  readonly where: string;
  readonly role: string;
  readonly command: readonly string[];
  /** Settings that stand in the file. Of those that come from elsewhere the name is known, and the value is null. */
  readonly env: Readonly<Record<string, string | null>>;
  /** From SIGTERM to SIGKILL, or null where nobody stops it. */
  readonly graceSeconds: number | null;
  /** Of the grace, what passes before the process hears SIGTERM. */
  readonly beforeSeconds: number;
  readonly memoryMiB: number | null;
}

export function allLaunches(): Launch[] {
  return [...kubernetesLaunches(), ...composeLaunches(), ...systemdLaunches(), imageLaunch()];
}

export interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: {
    readonly preStop: { readonly exec: { readonly command: readonly [string, string] } };
  };
  readonly resources: {
    readonly requests: { readonly cpu: string; readonly memory: string };
    readonly limits: { readonly memory: string };
  };
  readonly securityContext: unknown;
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly securityContext: unknown;
  readonly containers: readonly [Container];
}

export interface Workload {
  readonly name: string;
  readonly role: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly pod: PodSpec;
}

/** Everything in the manifests that makes pods. */
export function workloads(
  folders: readonly string[] = ["deploy/kubernetes/base", "deploy/kubernetes/migrate"],
): Workload[] {
  return folders.flatMap(kustomized).flatMap(({ kind, metadata, spec }) => {
    if (kind !== "Deployment" && kind !== "Job") return [];
    const { template } = spec as {
      template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    };
    const labels = template.metadata.labels;
    const role = labels["app.kubernetes.io/component"] ?? "";
    return [{ name: metadata.name, role, labels, pod: template.spec }];
  });
}

/** As an overlay has them, and not only the base. */
export function overlayLaunches(): Launch[] {
  return kubernetesLaunches(workloads(["deploy/kubernetes/overlays/example"]));
}

function kubernetesLaunches(pods: readonly Workload[] = workloads()): Launch[] {
  return pods.map(({ name, role, pod }) => {
    const [container] = pod.containers;
    return {
      where: `kubernetes ${name}`,
      role,
      command: container.command,
      env: Object.fromEntries(container.env.map((setting) => [setting.name, setting.value ?? null])),
      graceSeconds: pod.terminationGracePeriodSeconds ?? null,
      beforeSeconds: Number(container.lifecycle?.preStop.exec.command[1] ?? 0),
      memoryMiB: mebibytes(container.resources.limits.memory),
    };
  });
}

export interface ComposeService {
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period: string;
  readonly mem_limit?: string;
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly [field: string]: unknown;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly configs: { readonly redis: { readonly content: string } };
  readonly [field: string]: unknown;
}

const COMPOSE = "deploy/compose/compose.yaml";
/** That one, and the one for development. */
export const COMPOSE_FILES: readonly string[] = [COMPOSE, "docker-compose.yml"];
/** Of the compose file, what runs our own image. */
export const COMPOSE_ROLES: readonly string[] = [
  "migrate",
  "worker",
  "relay",
  "gateway",
  "console",
  "forwarder",
];

export function composeFile(path = COMPOSE): ComposeFile {
  return readYaml(path, { merge: true })[0] as ComposeFile;
}

function composeLaunches(): Launch[] {
  const { services } = composeFile();
  return COMPOSE_ROLES.map((role) => {
    const service = services[role];
    if (service?.command === undefined) throw new Error(`${COMPOSE} has no command for ${role}`);
    return {
      where: `compose ${role}`,
      role,
      command: service.command,
      env: service.environment,
      graceSeconds: Number.parseInt(service.stop_grace_period, 10),
      beforeSeconds: 0,
      memoryMiB: service.mem_limit === undefined ? null : mebibytes(service.mem_limit),
    };
  });
}

export const UNITS: readonly string[] = ["worker@", "relay", "gateway", "console", "forwarder", "migrate"];

/** The settings of a unit, each with its values in their order. */
export function unit(name: string): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, string[]>();
  for (const line of read(`deploy/systemd/junban-${name}.service`).split("\n")) {
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) continue;
    settings.set(key, [...(settings.get(key) ?? []), value]);
  }
  return settings;
}

function systemdLaunches(): Launch[] {
  return UNITS.map((name) => {
    const settings = unit(name);
    const files = (settings.get("EnvironmentFile") ?? []).flatMap((path) => environmentFile(path));
    const grace = settings.get("TimeoutStopSec")?.[0];
    const memory = settings.get("MemoryMax")?.[0];
    return {
      where: `systemd junban-${name}`,
      role: name.replace("@", ""),
      command: (settings.get("ExecStart")?.[0] ?? "").replace("/usr/bin/node", "node").split(" "),
      env: Object.fromEntries([...(settings.get("Environment") ?? []).map(pair), ...files]),
      graceSeconds: grace === undefined ? null : Number(grace),
      beforeSeconds: 0,
      memoryMiB: memory === undefined ? null : mebibytes(memory),
    };
  });
}

/** What the example beside the units says for the file of that name. */
function environmentFile(path: string): [string, string][] {
  return read(`deploy/systemd/${path.replace("/etc/junban/", "")}.example`)
    .split("\n")
    .filter((line) => /^[A-Z]/.test(line))
    .map(pair);
}

function imageLaunch(): Launch {
  const command = parse(/^CMD (.+)$/m.exec(read("Dockerfile"))?.[1] ?? "[]") as string[];
  const memory = { graceSeconds: null, beforeSeconds: 0, memoryMiB: null };
  return { where: "Dockerfile CMD", role: "worker", command, env: {}, ...memory };
}

function pair(text: string): [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}

function mebibytes(text: string): number {
  const [, number, unitName = ""] = /^(\d+)(Mi|Gi|M|G|m|g)$/.exec(text) ?? [];
  return Number(number) * (unitName.toUpperCase().startsWith("G") ? 1_024 : 1);
}
