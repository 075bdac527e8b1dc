import { columns } from "../report/columns.ts";
import { times, whole } from "../report/figures.ts";
import type { HistoryRow } from "../results.ts";
import { startLive } from "../rounds/live.ts";
import { median } from "../rounds/statistics.ts";
import { wholeBacklogRate } from "./measuring/backlog-rate.ts";
import { WrongPastError } from "./measuring/errors.ts";
import { ownOf, runOf } from "./measuring/own.ts";
import { copyOf, databaseWithPast, inboxRows } from "./measuring/past.ts";
import { pastsOf, type Past } from "./measuring/pasts.ts";
import { inTurn, Rounds } from "./measuring/turns.ts";
import type { Stage, Workload } from "./workload.ts";

export interface HistoryOptions {
  /** Past events of the one order: few and many. */
  readonly order: { readonly short: number; readonly long: number };
  /** Rows in the inbox, of as many orders as the short one has rows: few and many. */
  readonly inbox: { readonly short: number; readonly long: number };
  /** Open orders, each with a row in the inbox: few and many. */
  readonly open: { readonly short: number; readonly long: number };
  /** Events that warm the worker up, in one portion: they are rows of the inbox too. Default 2,000. */
  readonly warmUp?: number;
}

const DEFAULT_WARM_UP = 2_000;

const ARMS: Readonly<Record<HistoryRow["arm"], string>> = {
  order: "events of the order",
  inbox: "rows in the inbox",
  open: "open orders",
};

/**
 * What a long past costs: the same further events on an order with few past events and on one with many, on orders whose
 * inbox has few rows and many, and beside few other open orders and many.
 */
export function historyOf(options: HistoryOptions): Workload<HistoryRow> {
  return {
    name: "history",
    what: "a backlog on an order with few past events and with many, on a small inbox and a large one, beside few open orders and many",
    defaultEvents: 8_000,
    inReport: { withinMs: 60_000 },
    run: async (stage) => {
      const results = await measure(options, stage);
      return runOf("history", stage, { results, ratios: ratiosOf(results) });
    },
    table: ({ results, ratios, events, rounds }) => [
      `history: ${whole(events)} further events behind a past, medians of ${rounds}`,
      ...columns([
        ["", "past", "events/s", "÷ short"],
        ...results.map(({ arm, past, eventsPerSecond }, index) => [
          ARMS[arm],
          whole(past),
          whole(eventsPerSecond),
          index % 2 === 0 ? "" : times(ratios[arm] ?? Number.NaN),
        ]),
      ]),
    ],
  };
}

export const history: Workload<HistoryRow> = historyOf({
  order: { short: 10, long: 10_000 },
  inbox: { short: 1_000, long: 1_000_000 },
  open: { short: 1_000, long: 100_000 },
});

async function measure(options: HistoryOptions, stage: Stage): Promise<readonly HistoryRow[]> {
  const pasts = pastsOf({ ...options, events: stage.events, seed: stage.seed });
  const databases = new Map<Past, string>();
  for (const past of pasts) databases.set(past, await prepared(past, stage));
  const rates = new Rounds<number>();
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const past of inTurn(pasts, round)) {
      const rate = await measurePast(past, {
        stage,
        databaseUrl: await copyOf(stage.sandbox, databases.get(past) as string),
        prefix: `history-${round}-${pasts.indexOf(past)}`,
        warmUp: options.warmUp ?? DEFAULT_WARM_UP,
      });
      rates.add(past.name, rate);
      stage.say(`round ${round + 1}/${stage.rounds} ${past.name}: ${whole(rate)} events/s`);
    }
  }
  return pasts.map(({ arm, rows, name }) => ({
    arm,
    past: rows,
    eventsPerSecond: median(rates.of(name)),
  }));
}

/** Made once a run; each round works on a copy. */
async function prepared({ name, orders, rows }: Past, { sandbox, signal, say }: Stage): Promise<string> {
  let said = 0;
  const databaseUrl = await databaseWithPast(sandbox, orders, {
    signal,
    onProgress: (done) => {
      const tenths = Math.floor((10 * done) / orders.length);
      if (tenths > said) say(`making the past: ${name}, ${tenths * 10} %`);
      said = Math.max(said, tenths);
    },
  });
  const found = await inboxRows(databaseUrl);
  if (found !== rows) throw new WrongPastError({ what: name, rows: found, expected: rows });
  return databaseUrl;
}

interface PastRound {
  readonly stage: Stage;
  readonly databaseUrl: string;
  readonly prefix: string;
  readonly warmUp: number;
}

async function measurePast(past: Past, { stage, databaseUrl, prefix, warmUp }: PastRound): Promise<number> {
  const { sandbox, signal, withinMs } = stage;
  const own = { sandbox, prefix, databaseUrl, warmUp, signal };
  // One portion, so that both inboxes are longer by the same rows, which can be counted.
  const live = await startLive(ownOf(stage), { ...own, warmPortions: 1 });
  try {
    const limits = { what: past.name, withinMs, signal };
    // Neither arm pays for reading its orders from the copy's cold files.
    await wholeBacklogRate(live, past.touching, limits);
    const rate = await wholeBacklogRate(live, past.further, limits);
    const expected = past.rows + warmUp + past.touching.length + past.further.length;
    const rows = await inboxRows(databaseUrl);
    if (rows !== expected) throw new WrongPastError({ what: past.name, rows, expected });
    return rate;
  } finally {
    await live.stop();
  }
}

function ratiosOf(rows: readonly HistoryRow[]): Readonly<Record<string, number>> {
  const ratioOf = (wanted: HistoryRow["arm"]): number => {
    const [short, long] = rows.filter(({ arm }) => arm === wanted);
    return (long?.eventsPerSecond ?? Number.NaN) / (short?.eventsPerSecond ?? Number.NaN);
  };
  return { order: ratioOf("order"), inbox: ratioOf("inbox"), open: ratioOf("open") };
}
