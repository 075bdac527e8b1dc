import { setFlagsFromString } from "node:v8";
import { runWorker } from "./run-worker.ts";

// A backlog's requests live just long enough to be promoted, and V8 lets what it calls old grow several times over before it
// looks: without this the process swelled and shrank by half its size. Looking each time it has doubled keeps it level.
setFlagsFromString("--heap-growing-percent=100");

await runWorker({ env: process.env });
