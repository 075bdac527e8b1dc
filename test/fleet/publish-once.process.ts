/** Publishes the events it is given, once, and says so. */
import { createPublisher } from "@junban/event-queues";

const [redis = "", prefix = "", events = "[]"] = process.argv.slice(2);
const publisher = createPublisher({ redis, prefix });
const results = await publisher.publishAll(JSON.parse(events) as unknown[]);
process.stdout.write(`${results.map(({ kind }) => kind).join(" ")}\n`);
await publisher.close();
