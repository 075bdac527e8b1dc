/** BullMQ alone: two events of one order meet at the order's row in Postgres, and whoever comes first goes first. */
import { servePeer } from "./applier.ts";
import { takeBullmqJobs } from "./bullmq-peer.ts";

await servePeer(async (applier) => takeBullmqJobs(applier, async ({ job }) => applier.applyOne(job.data)));
