/** A publishing process: takes calls from its parent, publishes them with the real publisher, and answers each. */
import { createPublisher } from "@junban/event-queues";
import { CALL_TIMEOUT_MS, type Call, type CallAnswer } from "./call.ts";

const publisher = createPublisher({
  redis: process.env["REDIS_URL"] ?? "",
  prefix: process.env["JUNBAN_PREFIX"] ?? "",
  timeoutMs: CALL_TIMEOUT_MS,
});

process.on("message", ({ number, events }: Call) => {
  void publisher.publishAll(events).then((results) => {
    const refusals = results.map((result) => (result.kind === "published" ? null : result.error.code));
    process.send?.({ number, refusals } satisfies CallAnswer);
  });
});
// Nobody is left to publish for.
process.on("disconnect", () => process.exit(0));
