import { printable } from "@junban/operations";
import type { EventReport, OrderReport } from "@junban/order-store";
import { withSetting, type Registration } from "../command.ts";
import { FoundWrong } from "../exit.ts";
import { money, type Printer } from "../printing.ts";

export function registerOrder({ program, env }: Registration): void {
  program
    .command("order")
    .description("one order: statuses, money, obligations, lines, alerts, held events")
    .argument("<lcid>", "the order's name")
    .option("--history", "also every event of the order, by arrival")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban order A-1001 --history")
    .action(async (lcid: string, options: { history?: true; json?: true }) => {
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const order = await services.store().readOrder(lcid);
        if (order === null) {
          if (options.json === true) printer.json(null);
          throw new FoundWrong(
            `there is no order ${printable(lcid)}: nothing of it was decided. It may stand in line: junban lane ${printable(lcid)}`,
          );
        }
        const history = options.history === true ? await services.store().readHistory(lcid) : null;
        if (options.json === true) printer.json(history === null ? order : { ...order, history });
        else print(printer, order, history);
      });
    });

  program
    .command("event")
    .description("one event's outcome, by its source and id")
    .argument("<source>", "where it came from")
    .argument("<id>", "its id there")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban event /payments evt-81")
    .action(async (source: string, id: string, options: { json?: true }) => {
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const event = await services.store().readEvent({ source, id });
        if (event === null) {
          if (options.json === true) printer.json(null);
          throw new FoundWrong(
            `no event ${printable(id)} of ${printable(source)} is on record: it was not decided. It may stand in its order's line: junban lane LCID`,
          );
        }
        if (options.json === true) printer.json(event);
        else describeEvent(printer, event);
      });
    });
}

function print(printer: Printer, order: OrderReport, history: readonly EventReport[] | null): void {
  const amount = (minor: number): string => money(minor, order.currency);
  printer.facts([
    ["order", order.lcid],
    ["status", `${order.status}${order.halted ? " (halted behind a failed event: see junban dlq)" : ""}`],
    ["payment", order.paymentStatus],
    ["fulfilment", order.fulfilmentStatus],
    ["version", order.version],
    ["payable", amount(order.payableMinor)],
    ["authorized", amount(order.authorizedMinor)],
    ["captured", amount(order.capturedMinor)],
    ["voided", amount(order.voidedMinor)],
    ["refunded", amount(order.refundedMinor)],
    ["placed", order.placedAt],
    ["changed", order.updatedAt],
  ]);
  const obligations = [
    order.refundDueMinor > 0 ? `refund ${amount(order.refundDueMinor)}` : null,
    order.voidDueMinor > 0 ? `void ${amount(order.voidDueMinor)}` : null,
    order.releaseDue > 0 ? `release ${order.releaseDue} reserved` : null,
  ].filter((obligation) => obligation !== null);
  if (obligations.length > 0) {
    printer.out("");
    printer.text(`still to do: ${obligations.join(", ")}`, { indent: "" });
  }
  if (order.lines.length > 0) {
    printer.out("");
    printer.table(
      ["line", "sku", "unit", "quantity", "cancelled", "reserved", "released", "shipped"],
      order.lines.map((line) => [
        line.lineId,
        line.sku,
        amount(line.unitAmountMinor),
        line.quantity,
        line.cancelled,
        line.reserved,
        line.released,
        line.shipped,
      ]),
    );
  }
  for (const { source, id, type, reason } of order.alerts) {
    const name = [type, source, id].map(printable).join(" ");
    printer.out("");
    printer.text(`ALERT ${name}: ${printable(reason)} (acknowledge: junban dlq drop)`, { indent: "" });
  }
  if (order.heldEvents.length > 0) {
    const rows = order.heldEvents.map(
      ({ type, source, id, reason, until }) => [type, source, id, reason, until] as const,
    );
    printer.out("");
    printer.table(["held event", "source", "id", "waits for", "until"], rows);
  }
  if (history !== null) printHistory(printer, history);
}

function printHistory(printer: Printer, history: readonly EventReport[]): void {
  printer.out("");
  printer.table(
    ["arrival", "version", "outcome", "type", "source", "id", "reason", "decided"],
    history.map((event) => [
      event.arrival,
      event.version,
      event.outcome,
      event.type,
      event.source,
      event.id,
      event.reason,
      event.decidedAt,
    ]),
  );
}

function describeEvent(printer: Printer, event: EventReport): void {
  printer.facts([
    ["event", `${event.source} ${event.id}`],
    ["type", event.type],
    ["order", event.lcid],
    ["outcome", event.outcome],
    ["reason", event.reason],
    ["detail", event.detail],
    ["version", event.version],
    ["arrival", event.arrival],
    ["published", event.publishedAt],
    ["decided", event.decidedAt],
    ["waits until", event.deferredUntil],
    ["alert", event.alert ? "yes: acknowledge it with junban dlq drop" : "no"],
    ["decided by", event.worker],
    ["excerpt", event.raw],
  ]);
}
