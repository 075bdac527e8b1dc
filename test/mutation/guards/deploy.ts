import type { Guard } from "./guard.ts";

/** What an image, a compose file, manifests and units promise about the processes they start. */

const AGREEMENT = "test/deploy/agreement.test.ts";
const DOCKERFILE = "test/deploy/dockerfile.test.ts";
const SELECTORS = "test/deploy/selectors.test.ts";
const SCALING = "test/deploy/scaling.test.ts";
const UNITS = "test/deploy/units.test.ts";

export const DEPLOY_GUARDS: readonly Guard[] = [
  {
    promise: "a process in a container is given the time of its drain",
    file: "deploy/kubernetes/base/worker.yaml",
    guard: "      terminationGracePeriodSeconds: 35\n",
    without: "      terminationGracePeriodSeconds: 20\n",
    tests: [{ file: AGREEMENT, title: "gives it the time that it takes for itself, and a few seconds more" }],
  },
  {
    promise: "a gateway's time before SIGTERM is not taken from its drain",
    file: "deploy/kubernetes/base/gateway.yaml",
    guard: "      terminationGracePeriodSeconds: 45\n",
    without: "      terminationGracePeriodSeconds: 35\n",
    tests: [{ file: AGREEMENT, title: "gives it the time that it takes for itself, and a few seconds more" }],
  },
  {
    promise: "docker compose waits for a drain",
    file: "deploy/compose/compose.yaml",
    guard: "  stop_grace_period: 35s\n",
    without: "  stop_grace_period: 10s\n",
    tests: [{ file: AGREEMENT, title: "gives it the time that it takes for itself, and a few seconds more" }],
  },
  {
    promise: "systemd waits for a drain",
    file: "deploy/systemd/junban-worker@.service",
    guard: "TimeoutStopSec=35\n",
    without: "TimeoutStopSec=20\n",
    tests: [{ file: AGREEMENT, title: "gives it the time that it takes for itself, and a few seconds more" }],
  },
  {
    promise: "no shell stands between a container and its process",
    file: "Dockerfile",
    guard: 'CMD ["node", "--max-semi-space-size=64", "apps/worker/dist/main.js"]',
    without: "CMD node --max-semi-space-size=64 apps/worker/dist/main.js",
    tests: [
      {
        file: DOCKERFILE,
        title: "ends with a numbered user who is not root, and with the process itself as the first one",
      },
    ],
  },
  {
    promise: "the image's user is not root",
    file: "Dockerfile",
    guard: "USER 10001:10001\n",
    without: "",
    tests: [
      {
        file: DOCKERFILE,
        title: "ends with a numbered user who is not root, and with the process itself as the first one",
      },
    ],
  },
  {
    promise: "no secret of a checkout gets into an image",
    file: ".dockerignore",
    guard: "**/.env*\n",
    without: "",
    tests: [
      { file: DOCKERFILE, title: "is given the source, and no secret, nothing installed and no history" },
    ],
  },
  {
    promise: "a heap ends before its container's memory does",
    file: "deploy/kubernetes/base/worker.yaml",
    guard: "--max-old-space-size=640",
    without: "--max-old-space-size=900",
    tests: [{ file: AGREEMENT, title: "leaves a heap room for everything else below the limit of memory" }],
  },
  {
    promise: "a gateway of the compose file can be reached at the loopback address only",
    file: "deploy/compose/compose.yaml",
    guard: 'ports: ["127.0.0.1:${FLEET_GATEWAY_PORT',
    without: 'ports: ["${FLEET_GATEWAY_PORT',
    tests: [{ file: AGREEMENT, title: "at the loopback address only" }],
  },
  {
    promise: "a console of the compose file can be reached at the loopback address only",
    file: "deploy/compose/compose.yaml",
    guard: 'ports: ["127.0.0.1:${FLEET_CONSOLE_PORT',
    without: 'ports: ["${FLEET_CONSOLE_PORT',
    tests: [{ file: AGREEMENT, title: "at the loopback address only" }],
  },
  {
    promise: "a Redis for development can be reached at the loopback address only",
    file: "docker-compose.yml",
    guard: '"127.0.0.1:${LOCAL_REDIS_PORT',
    without: '"${LOCAL_REDIS_PORT',
    tests: [{ file: AGREEMENT, title: "at the loopback address only" }],
  },
  {
    promise: "a Redis for development wants a password",
    file: "docker-compose.yml",
    guard: "      requirepass $",
    without: "      # requirepass $",
    tests: [{ file: AGREEMENT, title: "gives Redis and Postgres a password" }],
  },
  {
    promise: "a browser's next request finds the console that knows it",
    file: "deploy/kubernetes/base/console.yaml",
    guard: "  replicas: 1\n",
    without: "  replicas: 2\n",
    tests: [
      {
        file: SELECTORS,
        title:
          "leave the console alone with its sessions: it is one pod, and nothing holds up whoever has to move it",
      },
    ],
  },
  {
    promise: "pods are closed to the network until something is allowed",
    file: "deploy/kubernetes/base/network-policies.yaml",
    guard: "  policyTypes: [Ingress, Egress]\n",
    without: "  policyTypes: [Ingress]\n",
    tests: [{ file: SELECTORS, title: "is closed for every pod, both ways, until something is allowed" }],
  },
  {
    promise: "a gateway has no way to Postgres",
    file: "deploy/kubernetes/base/network-policies.yaml",
    guard: "values: [worker, relay, console, migrate]",
    without: "values: [worker, relay, gateway, console, migrate]",
    tests: [{ file: SELECTORS, title: "and no further" }],
  },
  {
    promise: "jobs that are worked on count for the number of workers",
    file: "deploy/kubernetes/components/keda/scaled-object.yaml",
    guard: "payment_delayed + payment_active +",
    without: "payment_delayed +",
    tests: [
      {
        file: SCALING,
        title:
          "the number of workers follows every job between publish and completion, of each family and in each state",
      },
    ],
  },
  {
    promise: "a flood of one order asks for no worker more",
    file: "deploy/kubernetes/components/keda/scaled-object.yaml",
    guard: 'target: "10000"',
    without: 'target: "1000"',
    tests: [
      { file: AGREEMENT, title: "leave the number of workers to themselves, and both have the same bounds" },
    ],
  },
  {
    promise: "a process that is set wrongly is not started again and again",
    file: "deploy/systemd/junban-worker@.service",
    guard: "RestartPreventExitStatus=2\n",
    without: "",
    tests: [
      {
        file: UNITS,
        title: "runs as nobody who exists elsewhere, and takes its secrets from a file that only root reads",
      },
    ],
  },
  {
    promise: "an autoscaler reads a metric that a worker shows",
    file: "deploy/kubernetes/components/prometheus-hpa/autoscaler.yaml",
    guard: "name: junban_requests_standing",
    without: "name: junban_requests_waiting",
    tests: [{ file: "test/observability/observability.test.ts", title: "process by process" }],
  },
];
