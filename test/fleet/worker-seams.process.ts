/**
 * The worker's own program with a decision that can be told to misbehave: an authorization whose id begins with `throw` raises,
 * one that begins with `kill` ends the process on the spot, and FLEET_SLOW_MS makes every decision take that long. With
 * FLEET_STOP_AT the process is asked to stop as soon as so many events of one lane are committed together, before the first
 * of their jobs is told.
 */
import { subscribe } from "node:diagnostics_channel";
import { decide } from "@junban/orders";
import { runWorker } from "../../apps/worker/src/run-worker.ts";

const { FLEET_SLOW_MS, FLEET_STOP_AT, ...env } = process.env;
const slowMs = Number(FLEET_SLOW_MS ?? 0);
const clock = new Int32Array(new SharedArrayBuffer(4));

if (FLEET_STOP_AT !== undefined) {
  subscribe("junban.batch.committed", (batch) => {
    if ((batch as { keys: readonly string[] }).keys.length < Number(FLEET_STOP_AT)) return;
    // The jobs are told in turns of the event loop to come: this one stands before the first of them.
    setImmediate(() => process.emit("SIGTERM", "SIGTERM"));
  });
}

await runWorker({
  env,
  decide: (view, event) => {
    if (slowMs > 0) Atomics.wait(clock, 0, 0, slowMs);
    const ref = event.type === "payment.authorized" ? event.data.authorizationId : "";
    if (ref.startsWith("throw")) throw new Error("this decision always fails");
    if (ref.startsWith("kill")) process.kill(process.pid, "SIGKILL");
    return decide(view, event);
  },
});
