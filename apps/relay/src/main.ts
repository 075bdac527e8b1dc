import { runRelay } from "./run-relay.ts";

await runRelay({ env: process.env });
