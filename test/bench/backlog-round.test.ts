import { fileURLToPath } from "node:url";
import { hotStory } from "@junban/order-stories";
import type { Sandbox } from "@junban/sandbox";
import { expect, test } from "vitest";
import type { Carrier, Contender } from "../../apps/bench/src/contenders/contender.ts";
import { backlogRound, type BacklogRound } from "../../apps/bench/src/rounds/backlog-round.ts";
import { freshDatabase, freshRedis } from "../support/index.ts";

const EVENTS = hotStory({ lcid: "R-1", events: 10, seed: 1 });

/** Takes jobs, as it says, and does none of them. */
const IDLER = fileURLToPath(new URL("idler.process.ts", import.meta.url));

async function roundOf(
  { applies, idlesMs, left }: { applies: boolean; idlesMs: number; left: () => number },
  { withinMs }: { withinMs: number },
): Promise<BacklogRound> {
  const carrier: Carrier = {
    publish: async () => undefined,
    left: async () => left(),
    close: async () => undefined,
  };
  const contender: Contender = {
    name: "idler",
    version: "none",
    what: "takes jobs and does none of them",
    settings: [],
    promises: "nothing",
    applies,
    script: IDLER,
    env: { NODE_OPTIONS: "--import=tsx", IDLES_MS: String(idlesMs) },
    startedLine: /^started$/u,
    open: async () => carrier,
  };
  const { url } = freshRedis();
  // Of a sandbox a round on a given database only asks where Redis is and whose time to count.
  const sandbox = { redis: { url, pid: process.pid }, postgres: { pid: process.pid } } as Sandbox;
  const { signal } = new AbortController();
  const databaseUrl = await freshDatabase();
  return backlogRound(contender, {
    sandbox,
    prefix: "idle",
    databaseUrl,
    warmUp: 0,
    events: EVENTS,
    withinMs,
    signal,
  });
}

const FOR_EVER_MS = 3_600_000;

test("a contender that does not get done is cut off, and what it left took for ever", async () => {
  const round = await roundOf(
    { applies: true, idlesMs: FOR_EVER_MS, left: () => EVENTS.length },
    { withinMs: 100 },
  );
  expect(round).toMatchObject({ decided: 0, left: EVENTS.length });
  expect(round.seconds).toBeGreaterThanOrEqual(0.1);
  expect(round.latenciesMs).toEqual(EVENTS.map(() => Number.POSITIVE_INFINITY));
});

test("where nothing is applied, what is not left counts as done, and nobody is judged", async () => {
  const round = await roundOf({ applies: false, idlesMs: FOR_EVER_MS, left: () => 4 }, { withinMs: 100 });
  expect(round).toMatchObject({ decided: EVENTS.length - 4, left: 4, latenciesMs: null, judgement: null });
});

test("a contender whose process ends by itself fails the round with its last words", async () => {
  const round = roundOf({ applies: true, idlesMs: 0, left: () => EVENTS.length }, { withinMs: FOR_EVER_MS });
  await expect(round).rejects.toThrow(/idler ended with 10 jobs left\nworn out/u);
});
