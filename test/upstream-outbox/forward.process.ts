/**
 * A forwarder, which says what it is each time that changes, and kills itself the first time the given moment is told; rows are read
 * three at a time, so that there is a next batch.
 */
import { subscribe } from "node:diagnostics_channel";
import { createPublisher } from "@junban/event-queues";
import { createForwarder } from "@junban/upstream-outbox";

interface Settings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
  readonly dieAt: string;
  readonly leaseMs: number;
}

const { databaseUrl, redisUrl, prefix, dieAt, leaseMs } = JSON.parse(process.argv[2] ?? "{}") as Settings;
if (dieAt !== "") subscribe(dieAt, () => process.kill(process.pid, "SIGKILL"));

const publisher = createPublisher({ redis: redisUrl, prefix });
const forwarder = createForwarder({ databaseUrl, publisher, pollMs: 100, leaseMs, batch: 3 });
let said = "";
setInterval(() => {
  const { role } = forwarder.state();
  if (role !== said) process.stdout.write(`is ${role}\n`);
  said = role;
}, 20);
