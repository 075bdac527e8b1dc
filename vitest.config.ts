import { defineConfig } from "vitest/config";

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
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
