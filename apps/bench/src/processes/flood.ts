/**
 * A producer that publishes a flood on one order, in calls of so many events, until it has no more. A process of its own, as a service
 * would be: within the bench's, single events would wait for the flood before they are on their way to Redis. Started by the bench.
 */
import { junban } from "../contenders/junban.ts";
import { Flood } from "../workloads/measuring/flood.ts";
import { groundOf } from "./ground.ts";

await main(process.env);

async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const call = Number(env["BENCH_FLOOD_CALL"]);
  const { events } = new Flood({
    events: Number(env["BENCH_FLOOD_EVENTS"]),
    seed: Number(env["BENCH_FLOOD_SEED"]),
  });
  const producer = await junban.open(groundOf(env));
  process.stdout.write("started\n");
  for (let published = 0; published < events.length; published += call) {
    await producer.publish(events.slice(published, published + call));
  }
  process.stdout.write(`published at ${Date.now()}\n`);
  await producer.close();
}
