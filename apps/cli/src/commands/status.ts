import type { FamilyCounts } from "@junban/event-queues";
import type { LaneReport } from "@junban/handoff-lock";
import type { StoreSummary } from "@junban/order-store";
import { withSetting, type Registration, type Setting } from "../command.ts";
import { count, facts, table, type Printer } from "../printing.ts";

/** Lanes looked at; with more, the deepest of these are shown and the rest is said to be more. */
const LANES_LOOKED_AT = 10_000;
const DEEPEST_SHOWN = 5;

interface Status {
  readonly workers: number;
  readonly backlog: Readonly<Record<string, FamilyCounts>>;
  readonly lanes: {
    readonly busy: number;
    readonly more: boolean;
    readonly requests: number;
    readonly deepest: readonly LaneReport[];
  };
  readonly store: StoreSummary;
}

export function registerStatus({ program, env }: Registration): void {
  program
    .command("status")
    .description("backlog by family and state, lanes, orders, held, dead letters, outbox, workers alive")
    .option("--json", "print one JSON document")
    .action(async (options: { json?: true }) => {
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        const status = await read(setting);
        if (options.json === true) setting.printer.json(status);
        else print(setting.printer, status);
      });
    });
}

async function read({ services }: Setting): Promise<Status> {
  const [workers, backlog, store, lanes] = await Promise.all([
    services.queues().workers(),
    services.queues().counts(),
    services.store().summary(),
    busyLanes(services.lanes()),
  ]);
  return { workers, backlog, lanes, store };
}

async function busyLanes(lanes: ReturnType<Setting["services"]["lanes"]>): Promise<Status["lanes"]> {
  const busy: LaneReport[] = [];
  let seen = 0;
  for await (const lcids of lanes.scan()) {
    seen += lcids.length;
    const reports = await Promise.all(lcids.map((lcid) => lanes.inspect(lcid)));
    busy.push(...reports.filter(({ depth, holder }) => depth > 0 || holder !== null));
    if (seen >= LANES_LOOKED_AT) break;
  }
  return {
    busy: busy.length,
    more: seen >= LANES_LOOKED_AT,
    requests: busy.reduce((total, { depth }) => total + depth, 0),
    deepest: busy.toSorted((left, right) => right.depth - left.depth).slice(0, DEEPEST_SHOWN),
  };
}

function print(printer: Printer, { workers, backlog, lanes, store }: Status): void {
  printer.out(
    table(
      ["family", "waiting", "active", "delayed", "dead jobs"],
      Object.entries(backlog).map(([family, counts]) => [
        family,
        count(counts.waiting + counts.prioritized),
        count(counts.active),
        count(counts.delayed),
        count(counts.failed),
      ]),
    ),
  );
  printer.out("");
  printer.out(
    facts([
      ["workers alive", workers],
      [
        "busy lanes",
        `${count(lanes.busy)}${lanes.more ? " or more" : ""}, ${count(lanes.requests)} requests`,
      ],
      ["orders", summed(store.ordersByStatus)],
      ["events", summed(store.eventsByOutcome)],
      ["held", count(store.held)],
      ["halted orders", count(store.halted)],
      ["alerts", count(store.alerts)],
      [
        "outbox unpublished",
        `${count(store.outboxUnpublished)}, oldest ${(store.outboxLagMs / 1_000).toFixed(1)} s`,
      ],
      ["outbox parked", count(store.outboxParked)],
    ]),
  );
  if (lanes.deepest.length > 0) {
    const rows = lanes.deepest.map(
      (lane) => [lane.lcid, lane.depth, lane.seats, lane.leaseLeftMs, lane.tries] as const,
    );
    printer.out(
      `\n${table(["deepest lanes", "requests", "waiting jobs", "lease left ms", "turns lost in a row"], rows)}`,
    );
  }
}

function summed(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  return total === 0
    ? "none"
    : `${count(total)} (${parts.map(([name, value]) => `${count(value)} ${name}`).join(", ")})`;
}
