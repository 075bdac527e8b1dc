/** BullMQ alone: takes each job and completes it, in the manner of its own documentation. Started by the bench as a process. */
import { FAMILY_QUEUES } from "@junban/event-queues";
import { Worker } from "bullmq";
import { groundOf } from "./ground.ts";

const { redisUrl, prefix, concurrency } = groundOf(process.env);
const names = Object.values(FAMILY_QUEUES);

const workers = names.map(
  (name) =>
    new Worker(name, async () => undefined, {
      connection: { url: redisUrl, maxRetriesPerRequest: null },
      prefix,
      concurrency: concurrency / names.length,
      removeOnComplete: { count: 0 },
    }),
);
await Promise.all(workers.map((worker) => worker.waitUntilReady()));
process.stdout.write("started\n");
process.once("SIGTERM", () => {
  void Promise.all(workers.map((worker) => worker.close())).then(() => process.exit(0));
});
