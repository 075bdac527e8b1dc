/** BullMQ alone: takes each job and completes it, in the manner of its own documentation. Started by the bench as a process. */
import { FAMILY_QUEUES, QUEUE_PREFIX } from "@junban/event-queues";
import { Worker } from "bullmq";

const url = process.env["REDIS_URL"];
if (url === undefined) throw new TypeError("REDIS_URL is not set");
const concurrency = Number(process.env["JUNBAN_CONCURRENCY"] ?? 64);

const workers = Object.values(FAMILY_QUEUES).map(
  (name) =>
    new Worker(name, async () => undefined, {
      connection: { url, maxRetriesPerRequest: null },
      prefix: process.env["JUNBAN_PREFIX"] ?? QUEUE_PREFIX,
      concurrency,
      removeOnComplete: { count: 0 },
    }),
);
await Promise.all(workers.map((worker) => worker.waitUntilReady()));
process.stdout.write("started\n");
process.once("SIGTERM", () => {
  void Promise.all(workers.map((worker) => worker.close())).then(() => process.exit(0));
});
