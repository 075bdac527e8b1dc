/** BullMQ alone: two events of one order meet at the order's row in Postgres, and whoever comes first goes first. */
import { Applier } from "./applier.ts";
import { takeBullmqJobs } from "./bullmq-peer.ts";

const applier = new Applier();
await takeBullmqJobs(applier, { process: async ({ job }) => applier.applyOne(job.data) });
