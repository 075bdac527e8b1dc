/**
 * The worker's own program with a decision that fails as loudly as an error can: an authorization whose id begins with `loud`
 * raises one that holds the whole event in its message, its name, its code, its cause and its fields.
 */
import { decide } from "@junban/orders";
import { runWorker } from "../../apps/worker/src/run-worker.ts";

await runWorker({
  env: process.env,
  decide: (view, event) => {
    const ref = event.type === "payment.authorized" ? event.data.authorizationId : "";
    if (!ref.startsWith("loud")) return decide(view, event);
    const all = JSON.stringify(event);
    const error = new Error(all, { cause: new Error(all) });
    throw Object.assign(error, { name: all, code: all, detail: all, event });
  },
});
