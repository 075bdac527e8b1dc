import { readStatus, turnsLost, type FleetStatus } from "@junban/operations";
import { withSetting, type Registration } from "../command.ts";
import { count, counted, type Printer } from "../printing.ts";
import { leaseLeft } from "./lanes.ts";

export function registerStatus({ program, env }: Registration): void {
  program
    .command("status")
    .description("backlog by family and state, lanes, orders, held, dead letters, outbox, workers alive")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban status")
    .action(async (options: { json?: true }) => {
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        const status = await readStatus(setting.services.fleet());
        if (options.json === true) setting.printer.json(status);
        else print(setting.printer, status);
        if (!status.isUsed) {
          const { prefix } = setting.services.config;
          setting.printer.note(
            `no queue was ever used under the prefix ${prefix} in this Redis: look at JUNBAN_PREFIX and REDIS_URL`,
          );
        }
      });
    });
}

function print(printer: Printer, { workers, backlog, lanes, store }: FleetStatus): void {
  printer.table(
    ["family", "waiting", "active", "delayed", "dead jobs"],
    Object.entries(backlog).map(([family, counts]) => [
      family,
      count(counts.waiting + counts.prioritized),
      count(counts.active),
      count(counts.delayed),
      count(counts.failed),
    ]),
  );
  printer.out("");
  printer.facts([
    ["workers alive", workers],
    [
      "busy lanes",
      `${count(lanes.busy)}${lanes.more ? " or more" : ""}, ${counted(lanes.requests, "request")}`,
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
  ]);
  if (lanes.deepest.length > 0) {
    const rows = lanes.deepest.map(
      (lane) => [lane.lcid, lane.depth, lane.seats, leaseLeft(lane), turnsLost(lane)] as const,
    );
    printer.out("");
    printer.table(["deepest lanes", "requests", "jobs waiting", "lease left", "turns lost in a row"], rows);
  }
}

function summed(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  return total === 0
    ? "none"
    : `${count(total)} (${parts.map(([name, value]) => `${count(value)} ${name}`).join(", ")})`;
}
