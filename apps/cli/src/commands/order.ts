import { printable } from "@junban/operations";
import type { DeadLetter, EventReport, OrderReport } from "@junban/order-store";
import { withSetting, type Registration, type Setting } from "../command.ts";
import { FoundWrong } from "../exit.ts";
import { orderName, whyAbsent } from "../order-name.ts";
import { money, type Printer } from "../printing.ts";
import { waitsFor } from "./held.ts";

/** Events of one id, from different sources, that are listed. */
const MOST_FOUND = 100;
const NOT_ON_RECORD =
  "on record: it was not decided, or its order was purged. It may stand in its order's line: junban lane LCID";

export function registerOrder({ program, env }: Registration): void {
  program
    .command("order")
    .description("one order: statuses, money, obligations, lines, alerts, held events")
    .argument("<lcid>", "the order's name")
    .option("--history", "also every event of the order, by arrival")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban order A-1001 --history")
    .action(async (name: string, options: { history?: true; json?: true }) => {
      const lcid = orderName(name);
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const order = await services.store().readOrder(lcid);
        if (order === null) {
          if (options.json === true) printer.json(null);
          throw new FoundWrong(await whyAbsent(services.store(), lcid));
        }
        const history = options.history === true ? await services.store().readHistory(lcid) : null;
        if (options.json === true) printer.json(history === null ? order : { ...order, history });
        else {
          const failed = order.halted
            ? await services.store().listDead({ lcid, outcome: "failed", limit: MOST_FOUND })
            : [];
          print(printer, { order, failed, history });
        }
      });
    });

  program
    .command("event")
    .description("one event's outcome, by its source and id, or by its id alone")
    .argument("<source>", "where it came from; an id alone is looked for in every source")
    .argument("[id]", "its id there")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban event /payments evt-81")
    .action(async (source: string, id: string | undefined, options: { json?: true }) => {
      await withSetting({ env, need: ["database"] }, async (setting) => {
        const { services, printer } = setting;
        if (id === undefined) return findById(setting, { id: source, json: options.json === true });
        const event = await services.store().readEvent({ source, id });
        if (event === null) {
          if (options.json === true) printer.json(null);
          throw new FoundWrong(
            `no event ${printable(id)} of ${printable(source)} is ${NOT_ON_RECORD}\nWhether another source has that id: junban event ID`,
          );
        }
        if (options.json === true) printer.json(event);
        else describeEvent(printer, event);
      });
    });
}

async function findById(
  { services, printer }: Setting,
  { id, json }: { readonly id: string; readonly json: boolean },
): Promise<void> {
  const events = await services.store().findEvents({ id, limit: MOST_FOUND });
  const [first, ...others] = events;
  if (json) printer.json({ events });
  if (first === undefined) throw new FoundWrong(`no event ${printable(id)} is ${NOT_ON_RECORD}`);
  if (json) return;
  if (others.length === 0) return describeEvent(printer, first);
  printer.table(
    ["outcome", "order", "type", "source", "id", "reason", "decided"],
    events.map((event) => [
      event.outcome,
      event.lcid,
      event.type,
      event.source,
      event.id,
      event.reason,
      event.decidedAt,
    ]),
  );
  if (events.length === MOST_FOUND) printer.note(`only ${MOST_FOUND} of them; name the source`);
}

interface Shown {
  readonly order: OrderReport;
  /** What a halted order stands behind, newest first. */
  readonly failed: readonly DeadLetter[];
  readonly history: readonly EventReport[] | null;
}

function print(printer: Printer, { order, failed, history }: Shown): void {
  const amount = (minor: number): string => money(minor, order.currency);
  printer.facts([
    ["order", order.lcid],
    ["status", `${order.status}${order.halted ? " (halted behind a failed event)" : ""}`],
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
  const point = (word: string, event: DeadLetter, next: string): void => {
    const name = [event.type, event.source, event.id].map(printable).join(" ");
    printer.out("");
    printer.text(`${word} ${name}: ${printable(event.reason)} (${next})`, { indent: "" });
  };
  for (const event of failed) point("FAILED", event, "mend the cause: junban dlq replay, or junban dlq drop");
  for (const event of order.alerts) point("ALERT", event, "acknowledge: junban dlq drop");
  if (order.heldEvents.length > 0) {
    const rows = order.heldEvents.map(
      ({ type, source, id, reason, until }) => [type, source, id, waitsFor(reason), until] as const,
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
