/**
 * A process that holds and waits, to be killed and frozen: `lane.process.ts URL PREFIX LEASE_MS LCID KEY…`.
 * It stands for every key at once and says what becomes of each; on SIGUSR2 it settles what it has in hand.
 */
import { createLanes } from "@junban/handoff-lock";
import type { Turn } from "@junban/handoff-lock";
import { Redis } from "ioredis";

const [url = "", prefix = "", leaseMs = "", lcid = "", ...keys] = process.argv.slice(2);
const redis = new Redis(url, { maxRetriesPerRequest: null });
const waitMs = 3_600_000;
const lanes = createLanes({ redis, prefix, leaseMs: Number(leaseMs), waitMs, wordMs: waitMs });
const stopping = new AbortController();

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function serveOnDemand(turn: Turn): void {
  turn.signal.addEventListener("abort", () => say("lost"));
  process.once("SIGUSR2", () => {
    const settlements = turn.requests.map(({ key }) => ({ key, value: "by the process" }));
    void turn.handOff(settlements).then(({ kind }) => say(`handoff ${kind}`));
  });
}

for (const key of keys) {
  const request = { key, body: `body of ${key}` };
  void lanes.stand(lcid, request, { signal: stopping.signal }).then((answer) => {
    if (answer.kind === "turn") serveOnDemand(answer.turn);
    say(`${answer.kind} ${key}`);
  });
}
