/**
 * The worker's own program with a decision that can be told to misbehave: an authorization whose id begins with `throw` raises,
 * one that begins with `kill` ends the process on the spot, and FLEET_SLOW_MS makes every decision take that long.
 */
import { decide } from "@junban/orders";
import { runWorker } from "../../apps/worker/src/run-worker.ts";

const { FLEET_SLOW_MS, ...env } = process.env;
const slowMs = Number(FLEET_SLOW_MS ?? 0);
const clock = new Int32Array(new SharedArrayBuffer(4));

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
