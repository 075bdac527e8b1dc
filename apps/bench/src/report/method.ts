import { NODE_FLAGS, POOL_SIZE, SLOTS, WARMING } from "../rounds/alike.ts";
import { duration, whole } from "./figures.ts";
import { runsOf, type Kept } from "./kept.ts";
import { heading, paragraph, table } from "./markdown.ts";

/** How it was measured, on what, and how to do it again. */
export function methodSection(kept: Kept): readonly string[] {
  const machines = [
    ...new Map(runsOf(kept).map(({ machine }) => [JSON.stringify(machine), machine])).values(),
  ];
  return [
    ...heading("How it was measured"),
    ...paragraph(
      "Everything runs on one machine: the contender's process, the producer, Redis and Postgres, on throwaway servers with their durability on.",
      "Every contender gets the same events in the same order, and applies each with the same code on the same tables (Junban in batches, the peers one by one), so that what differs is how events get from the producer to that code.",
      "What is out of order or lost is told by the rows in Postgres afterwards; what took effect twice, by comparing each order with its own history there. Nothing is told of losses where somebody was cut off.",
    ),
    ...paragraph(
      `Every process runs with Node's \`${NODE_FLAGS.join(" ")}\`, as \`npm run worker\` starts the worker: room for short-lived objects, which is resident memory too.`,
      `Every process has ${whole(POOL_SIZE)} connections to the store, and ${whole(SLOTS)} jobs in hand at once unless its own settings below say otherwise: Junban's defaults. Those that keep their jobs in Postgres have connections of their own beside these.`,
    ),
    ...paragraph(
      "A round begins on a fresh database and fresh keys. The process is warmed up and then stopped (SIGSTOP); the backlog is published; the process is let go (SIGCONT), and the time runs until nothing is left.",
      `The warm-up is ${whole(WARMING.events)} events of 200 other orders; whoever is through with a portion within ${duration(WARMING.soonMs)} gets another one, of one order and of many in turn, until ${duration(WARMING.enoughMs)} are over or ${whole(WARMING.portions)} portions are done. So the fast get more of it than the slow, in about the same time.`,
      "Whoever is not done when the time of a round is over is cut off: its rate is what it did until then, and what it left is in the table.",
      "Contenders take turns, another one first in each round. Rates and latencies are medians of the rounds, counts of harm are sums; of recovery and retries the slowest round is told.",
    ),
    ...paragraph(
      "In “latency” and “fairness” the time of an event begins when the producer hands it over, by the producer's clock, or, where a call for earlier events was still under way, when it fell due: the same for everybody, whatever a contender itself takes for the time of publication.",
      "It ends with the decision, as Postgres times it at the statement that writes it, before its COMMIT is flushed to disk; of an event that was held for another, the last decision counts.",
    ),
    ...paragraph(
      "Quote ratios rather than times: both sides of a ratio met the same machine on the same day.",
    ),
    ...table(
      ["machine", "cores", "memory", "Node", "Postgres", "Redis"],
      machines.map((machine) => [
        machine.system,
        whole(machine.cores),
        `${(machine.memoryBytes / 1_073_741_824).toFixed(1)} GiB`,
        machine.node,
        machine.postgres,
        machine.redis,
      ]),
    ),
    ...table(
      ["sitting", "began", "at commit", "workloads"],
      kept.sittings.map((sitting, index) => [
        String(index + 1),
        `${sitting.startedAt.slice(0, 16).replace("T", " ")} UTC`,
        `${sitting.commit ?? "unknown"}${sitting.changed ? ", with changes that were not committed" : ""}`,
        kept.workloads
          .filter((entry) => entry.sitting === index)
          .map(({ run }) => run.workload)
          .join(", "),
      ]),
      { left: 4 },
    ),
    ...heading("To do it again", 3),
    "```",
    "npm run bench:report                                # everything, and this page",
    "npm run bench -- --workload hot --peers groupmq     # one workload; --help tells the others",
    "```",
    "",
  ];
}
