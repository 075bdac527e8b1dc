/** A process that logs a good deal, and then says goodbye where its log goes and where nobody stands in the way. */
import { createLogger, createShutdown } from "@junban/service";

const lines = Number(process.argv[2]);
const logger = createLogger({ name: "fixture", level: "info" });
const shutdown = createShutdown({ graceMs: 5_000, logger });
for (let line = 0; line < lines; line += 1) {
  logger.info({ line, note: "x".repeat(1_000) }, "line");
  // So that a broken pipe is met by a write, and its error by the event loop.
  await new Promise((resolve) => setImmediate(resolve));
}
process.stderr.write("said everything\n");
await shutdown.begin("done", 2);
