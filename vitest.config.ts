import { defineConfig } from "vitest/config";

const FAULT_RUNS = ["test/chaos/**/*.test.ts"];

const limits = { testTimeout: 60_000, hookTimeout: 120_000 };

export default defineConfig({
  resolve: { conditions: ["@junban/source"] },
  ssr: { resolve: { conditions: ["@junban/source"], externalConditions: ["@junban/source"] } },
  // Where the global setup runs: on source like everything else, so that tests need nothing built.
  environments: {
    __vitest__: {
      resolve: { conditions: ["@junban/source"], externalConditions: ["@junban/source"] },
    },
  },
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { ...limits, name: "parts", include: ["test/**/*.test.ts"], exclude: FAULT_RUNS },
      },
      // Alone and afterwards: how soon a fleet recovers is part of what these ask.
      {
        extends: true,
        test: { ...limits, name: "chaos", include: FAULT_RUNS, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
