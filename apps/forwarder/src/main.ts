import { runForwarder } from "./run-forwarder.ts";

await runForwarder({ env: process.env, args: process.argv.slice(2) });
