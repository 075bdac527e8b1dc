import { readConfig } from "@junban/service";
import { describe, expect, test } from "vitest";
import { readConsoleSettings } from "../../apps/console/src/settings.ts";
import { read, ROOT } from "./checkout.ts";
import { kustomized } from "./kustomize.ts";
import {
  allLaunches,
  COMPOSE_FILES,
  COMPOSE_ROLES,
  composeFile,
  overlayLaunches,
  workloads,
} from "./launches.ts";

const launches = allLaunches();
const long = launches.filter(({ role }) => role !== "migrate");
const defaults = readConfig({}, []);
const ADDRESSES: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://127.0.0.1/junban",
  REDIS_URL: "redis://127.0.0.1",
};
const baseConsole = launches.find(({ where }) => where === "kubernetes junban-console");
const USERS_EXAMPLE = `${ROOT}deploy/compose/console-users.example.json`;
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

describe("every file that starts a process", () => {
  test("starts it as npm does, and without a shell", () => {
    const npm: Record<string, string> = {
      worker: scripts["worker"] ?? "",
      relay: scripts["relay"] ?? "",
      gateway: scripts["gateway"] ?? "",
      console: scripts["console"] ?? "",
      forwarder: scripts["forward"] ?? "",
      migrate: "exec node apps/cli/bin/junban.js migrate",
    };
    expect(launches.map(({ role }) => role)).toEqual(expect.arrayContaining(Object.keys(npm)));
    for (const { where, role, command } of launches) {
      expect(`exec ${command.join(" ")}`, where).toBe(npm[role]);
    }
  });

  test("gives it the time that it takes for itself, and a few seconds more", () => {
    const graceSeconds = defaults.shutdownGraceMs / 1_000;
    const stopped = long.filter((launch) => launch.graceSeconds !== null);
    expect(stopped).toHaveLength(long.length - 1);
    for (const launch of stopped) {
      expect(launch.env, launch.where).not.toHaveProperty("JUNBAN_SHUTDOWN_GRACE_MS");
      expect((launch.graceSeconds ?? 0) - launch.beforeSeconds, launch.where).toBeGreaterThanOrEqual(
        graceSeconds + 5,
      );
    }
  });

  test("sets only what there is to set, and values that are allowed", () => {
    for (const { where, env } of launches) {
      const own = Object.entries(env).filter(([name]) => !/^NODE_(ENV|OPTIONS)$/.test(name));
      const foreign = own.filter(([name]) => !/^(JUNBAN_.+|LOG_LEVEL|DATABASE_URL|REDIS_URL)$/.test(name));
      expect(foreign, where).toEqual([]);
      expect(() => readConfig(filled(env), []), where).not.toThrow();
    }
  });

  test("tells a console where browsers find it, over TLS or on this machine, and where its users stand", async () => {
    const consoles = [...launches, ...overlayLaunches()].filter(({ role }) => role === "console");
    const origins = new Map<string, string>();
    // The base alone cannot know it, and then the console says so instead of serving.
    for (const { where, env } of consoles.filter((each) => each !== baseConsole)) {
      const users = { JUNBAN_CONSOLE_USERS_FILE: USERS_EXAMPLE };
      expect(env, where).toHaveProperty("JUNBAN_CONSOLE_USERS_FILE");
      const settings = await readConsoleSettings({ ...ADDRESSES, ...filled(env), ...users });
      origins.set(where, settings.config.consoleOrigin);
    }
    expect(Object.fromEntries(origins)).toEqual({
      "kubernetes junban-console": "https://console.example.com",
      "compose console": "http://127.0.0.1:7464",
      // On the loopback, where whoever is there is known by the port.
      "systemd junban-console": "",
    });
    const alone = readConsoleSettings({ ...ADDRESSES, ...filled(baseConsole?.env ?? {}) });
    await expect(alone).rejects.toThrow("JUNBAN_CONSOLE_ORIGIN is not set");
  });

  test("leaves a heap room for everything else below the limit of memory", () => {
    const limited = long.filter(({ memoryMiB }) => memoryMiB !== null);
    expect(limited).toHaveLength(long.length - 1);
    for (const { where, command, env, memoryMiB } of limited) {
      const semiMiB = Number(/--max-semi-space-size=(\d+)/.exec(command.join(" "))?.[1] ?? 16);
      const oldMiB = Number(/^--max-old-space-size=(\d+)$/.exec(env["NODE_OPTIONS"] ?? "")?.[1]);
      // New objects take two semi-spaces, and a third of the size while one is copied into another.
      expect(oldMiB + 3 * semiMiB + 128, where).toBeLessThanOrEqual(memoryMiB ?? 0);
    }
  });

  test("lets a gateway know Redis only, and nobody but a migration do without it", () => {
    for (const { where, role, env } of launches.filter(
      ({ where: place }) => !/systemd|Dockerfile/.test(place),
    )) {
      const addresses = ["DATABASE_URL", "REDIS_URL"].filter((name) => name in env);
      const wanted = role === "gateway" ? ["REDIS_URL"] : ["DATABASE_URL", "REDIS_URL"];
      expect(addresses, where).toEqual(where === "kubernetes junban-migrate" ? ["DATABASE_URL"] : wanted);
    }
  });
});

describe("ports", () => {
  test("are those on which the processes listen", () => {
    for (const { name, pod } of workloads()) {
      const [{ ports = [], ...probes }] = pod.containers;
      const byName = Object.fromEntries(ports.map((port) => [port.name, port.containerPort]));
      if (name === "junban-migrate") continue;
      expect(byName["health"], name).toBe(defaults.httpPort);
      if (name === "junban-gateway") expect(byName["requests"]).toBe(defaults.gatewayPort);
      if (name === "junban-console") expect(byName["pages"]).toBe(defaults.consolePort);
      expect(probes.startupProbe.httpGet, name).toEqual({ path: "/livez", port: "health" });
      expect(probes.livenessProbe.httpGet, name).toEqual({ path: "/livez", port: "health" });
      expect(probes.readinessProbe.httpGet, name).toEqual({ path: "/readyz", port: "health" });
    }
    const { httpPort, gatewayPort, consolePort } = defaults;
    expect(read("Dockerfile")).toContain(`\nEXPOSE ${httpPort} ${gatewayPort} ${consolePort}\n`);
  });

  test("are open to other machines only in a pod's own network", () => {
    for (const { where, env } of launches) {
      const hosts = Object.entries(env).filter(([name]) => name.endsWith("_HTTP_HOST"));
      const isOpen = where.startsWith("kubernetes") && !where.endsWith("migrate");
      if (isOpen) expect(hosts.length, where).toBeGreaterThan(0);
      else if (!/^compose (gateway|console)$/.test(where)) expect(hosts, where).toEqual([]);
    }
    for (const { metadata, spec } of kustomized("deploy/kubernetes/overlays/example")) {
      const text = JSON.stringify(spec ?? {});
      expect(text, metadata.name).not.toMatch(/"hostPort"|"hostNetwork":true|"NodePort"|"LoadBalancer"/);
    }
  });

  test.each(COMPOSE_FILES)("are published by %s at the loopback address only, those of Redis too", (path) => {
    const published = Object.entries(composeFile(path).services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port] as const),
    );
    expect(published).toHaveLength(2);
    for (const [name, port] of published) expect(port, name).toMatch(/^127\.0\.0\.1:[^:]*:-\d+\}:\d+$/);
  });

  test("of workers and their neighbours on one host differ", () => {
    const ports = launches
      .filter(({ where }) => /^systemd.*(?<!migrate)$/.test(where))
      .map(({ env }) => env["JUNBAN_HTTP_PORT"]);
    expect(new Set(ports).size).toBe(5);
  });
});

describe("the compose file", () => {
  const { services, configs } = composeFile();

  test("lets its containers do nothing that they need not", () => {
    for (const role of COMPOSE_ROLES) {
      expect(services[role], role).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
    }
  });

  test("asks every server and every process whether it is ready, and starts none before the schema stands", () => {
    for (const [name, service] of Object.entries(services)) {
      if (name !== "migrate") expect(service.healthcheck, name).toBeDefined();
      if (!COMPOSE_ROLES.includes(name) || name === "migrate") continue;
      expect(service["depends_on"], name).toHaveProperty("migrate", {
        condition: "service_completed_successfully",
      });
      expect(service.healthcheck?.test.join(" "), name).toContain(`127.0.0.1:${defaults.httpPort}/readyz`);
    }
  });

  test("has a Redis that keeps what it was given and evicts nothing", () => {
    const settings = configs.redis.content.split("\n");
    expect(settings).toEqual(expect.arrayContaining(["appendonly yes", "maxmemory-policy noeviction"]));
  });

  test("gives Redis and Postgres a password, as does the one for development", () => {
    const passwords = COMPOSE_FILES.flatMap((path) => {
      const file = composeFile(path);
      const redis = /^requirepass \$(.+)$/m.exec(file.configs.redis.content)?.[1];
      return [redis, file.services["postgres"]?.environment["POSTGRES_PASSWORD"]?.slice(1)];
    });
    expect(passwords).toEqual([
      "{FLEET_REDIS_PASSWORD:?set it in .env}",
      "{FLEET_POSTGRES_PASSWORD:?set it in .env}",
      "{LOCAL_REDIS_PASSWORD:-junban-local-only}",
      "{LOCAL_POSTGRES_PASSWORD:-junban-local-only}",
    ]);
  });

  test("takes from its environment only what the example names", () => {
    const taken = [...read("deploy/compose/compose.yaml").matchAll(/\$\{(\w+)/g)].map(
      ([, name]) => name ?? "",
    );
    const named = [...read("deploy/compose/fleet.env.example").matchAll(/^(?:# )?(\w+)=/gm)].map(
      ([, name]) => name ?? "",
    );
    expect([...new Set(taken)].toSorted()).toEqual(named.toSorted());
    expect(named.filter((name) => name.startsWith("JUNBAN_"))).toEqual([]);
  });
});

describe("the autoscalers", () => {
  test("leave the number of workers to themselves, and both have the same bounds", () => {
    const manifests = kustomized("deploy/kubernetes/overlays/example");
    const worker = manifests.find(
      ({ kind, metadata }) => kind === "Deployment" && metadata.name === "junban-worker",
    );
    expect(worker?.spec).not.toHaveProperty("replicas");
    const keda = manifests.find(({ kind }) => kind === "ScaledObject")?.spec;
    const hpa = read("deploy/kubernetes/components/prometheus-hpa/autoscaler.yaml");
    expect(keda).toMatchObject({
      minReplicaCount: 2,
      maxReplicaCount: 4,
      scaleTargetRef: { name: "junban-worker" },
    });
    expect(hpa).toMatch(/minReplicas: 2\n {2}maxReplicas: 4\n/);
    expect(hpa).toContain('averageValue: "10000"');
    expect(keda).toMatchObject({ advanced: { scalingModifiers: { target: String(defaults.laneCap) } } });
  });
});

/** What a process would see, with what only a place of yours knows filled in. */
function filled(env: Readonly<Record<string, string | null>>): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !/^NODE_(ENV|OPTIONS)$/.test(name));
  return Object.fromEntries(own.map(([name, value]) => [name, filledIn(name, value)]));
}

/** A value as the process would see it: names of systemd and compose that stand for others are filled in. */
function filledIn(name: string, value: string | null): string {
  if (value === null || value.includes("${FLEET_UPSTREAM")) return ADDRESSES[name] ?? "";
  return (
    value
      // The innermost first: a default may hold another name.
      .replaceAll(/\$\{\w+:-([^${}]*)\}/g, "$1")
      .replaceAll(/\$\{\w+:-([^${}]*)\}/g, "$1")
      .replaceAll(/\$\{\w+:\?[^}]*\}/g, "secret")
      .replace("%i", "9464")
      .replace("%d", "/run/credentials")
  );
}
