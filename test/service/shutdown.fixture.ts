/** A process with nothing but a shutdown, for the tests that send real signals. */
import { createLogger, createShutdown } from "@junban/service";

const mode = process.argv[2] ?? "idle";
const logger = createLogger({ name: "fixture", level: "info" });
createShutdown({
  graceMs: mode === "hanging" ? 200 : 60_000,
  logger,
  steps: [
    { name: "step", run: async () => (mode.startsWith("hanging") ? new Promise(() => {}) : undefined) },
  ],
});
logger.info("started");
setInterval(() => undefined, 1_000);
if (mode === "rejecting") throw Object.assign(new Error("nobody caught this"), { detail: "canary" });
