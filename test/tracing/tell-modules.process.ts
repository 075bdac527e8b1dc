import { createRequire } from "node:module";

// Loaded before a program: tells, when that ends, which CommonJS modules it has loaded. OpenTelemetry's are of that kind.
process.once("exit", () => {
  process.stderr.write(`\nloaded ${JSON.stringify(Object.keys(createRequire(import.meta.url).cache))}\n`);
});
