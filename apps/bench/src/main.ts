import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
/** Measures how fast a backlog is worked off, contender by contender in the same run: `npm run bench -- --workload hot`. */
import { hotStory, trafficOf } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { startSandbox } from "@junban/sandbox";
import { CONTENDERS, type Contender } from "./contenders.ts";
import { runRound, type RoundResult } from "./round.ts";

const WORKLOADS: Readonly<Record<string, (events: number, seed: number) => readonly EventEnvelope[]>> = {
  hot: (events, seed) => hotStory({ lcid: "HOT-1", events, seed }),
  zipf: (events, seed) => trafficOf({ orders: 1_000, events, skew: "zipf", seed }),
  uniform: (events, seed) => trafficOf({ orders: 10_000, events, skew: "uniform", seed }),
};

interface Arguments {
  readonly workload: string;
  readonly events: number;
  readonly peers: readonly Contender[];
  readonly rounds: number;
  readonly seed: number;
  readonly json: boolean;
}

function readArguments(): Arguments | string {
  const { values } = parseArgs({
    options: {
      workload: { type: "string", default: "hot" },
      events: { type: "string", default: "8000" },
      peers: { type: "string", default: "junban-single,bullmq-noop" },
      rounds: { type: "string", default: "3" },
      seed: { type: "string", default: "1" },
      json: { type: "boolean", default: false },
    },
  });
  const names = ["junban", ...values.peers.split(",").filter((name) => name !== "" && name !== "junban")];
  const peers = names.map((name) => CONTENDERS.find((contender) => contender.name === name));
  const numbers = [values.events, values.rounds, values.seed].map(Number);
  if (!(values.workload in WORKLOADS)) return `--workload is one of ${Object.keys(WORKLOADS).join(", ")}`;
  if (peers.includes(undefined)) {
    return `--peers are some of ${CONTENDERS.map(({ name }) => name).join(", ")}`;
  }
  if (!numbers.every((value) => Number.isSafeInteger(value) && value > 0)) {
    return "--events, --rounds and --seed are whole numbers above 0";
  }
  const [events = 0, rounds = 0, seed = 0] = numbers;
  return {
    workload: values.workload,
    events,
    rounds,
    seed,
    json: values.json,
    peers: peers.filter((peer) => peer !== undefined),
  };
}

async function run(options: Arguments): Promise<void> {
  const say = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const events = WORKLOADS[options.workload]?.(options.events, options.seed) ?? [];
  const sandbox = await startSandbox();
  const rounds = new Map<string, RoundResult[]>(options.peers.map(({ name }) => [name, []]));
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      for (let turn = 0; turn < options.peers.length; turn += 1) {
        // Another one starts each round, so that none always finds the machine as the one before it left it.
        const contender = options.peers[(round + turn) % options.peers.length];
        if (contender === undefined) continue;
        const result = await runRound(sandbox, contender, { events, prefix: `bench-${round}-${turn}` });
        rounds.get(contender.name)?.push(result);
        say(
          `round ${round + 1}/${options.rounds} ${contender.name}: ${Math.round(result.eventsPerSecond)} events/s`,
        );
      }
    }
  } finally {
    await sandbox.stop();
  }
  print(options, rounds);
}

function print(
  { workload, events, json }: Arguments,
  rounds: ReadonlyMap<string, readonly RoundResult[]>,
): void {
  const results = [...rounds].map(([name, of]) => ({
    name,
    eventsPerSecond: Math.round(median(of.map(({ eventsPerSecond }) => eventsPerSecond))),
    inversions: summed(of.map(({ inversions }) => inversions)),
    lost: summed(of.map(({ lost }) => lost)),
    cpuSecondsPer1000: median(of.flatMap(({ cpuSecondsPer1000 }) => cpuSecondsPer1000 ?? [])),
  }));
  const own = results.find(({ name }) => name === "junban")?.eventsPerSecond ?? 0;
  const ratios = Object.fromEntries(
    results
      .filter(({ name }) => name !== "junban")
      .map(({ name, eventsPerSecond }) => [name, own / eventsPerSecond]),
  );
  if (json) {
    const machine = { cores: cpus().length, memoryBytes: totalmem(), node: process.version };
    process.stdout.write(`${JSON.stringify({ workload, events, machine, results, ratios })}\n`);
    return;
  }
  process.stdout.write(`${workload}, ${events} events, medians of the rounds\n`);
  for (const { name, eventsPerSecond, inversions, lost, cpuSecondsPer1000 } of results) {
    const ratio = ratios[name] === undefined ? "" : `  junban is ${ratios[name].toFixed(2)} times as fast`;
    const checked = lost === null ? "" : `  lost ${lost}, inversions ${inversions}`;
    process.stdout.write(
      `${name.padEnd(14)} ${String(eventsPerSecond).padStart(7)} events/s  ${cpuSecondsPer1000.toFixed(3)} CPU s per 1,000${checked}${ratio}\n`,
    );
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] =
    sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]];
  return (low + high) / 2;
}

function summed(values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

const options = readArguments();
if (typeof options === "string") {
  process.stderr.write(`${options}\n`);
  process.exitCode = 2;
} else {
  await run(options);
}
