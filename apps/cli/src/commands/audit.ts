import { printable } from "@junban/operations";
import type { AuditFinding } from "@junban/order-store";
import { withSetting, type Registration } from "../command.ts";
import { FoundWrong } from "../exit.ts";
import { orderName, purgedSays } from "../order-name.ts";
import { count, counted } from "../printing.ts";

export function registerAudit({ program, env }: Registration): void {
  program
    .command("audit")
    .description("fold each order's history and compare it with the stored rows; exit 1 on drift, naming it")
    .argument("[lcid...]", "only these orders; all without any")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban audit A-1001")
    .action(async (named: string[], options: { json?: true }) => {
      const lcids = named.map(orderName);
      await withSetting({ env, need: ["database"] }, async ({ services, printer, signal }) => {
        const drifted: AuditFinding[] = [];
        const seen = new Set<string>();
        for await (const finding of services.store().audit(lcids.length === 0 ? undefined : lcids)) {
          seen.add(finding.lcid);
          if (finding.differences.length > 0) drifted.push(finding);
          printer.progress(`${counted(seen.size, "order")} audited`);
          if (signal.aborted) break;
        }
        printer.endProgress();
        const absent = lcids.filter((lcid) => !seen.has(lcid));
        const purged = await services.store().readPurged(absent);
        const missing = absent.filter((absentLcid) => purged.every(({ lcid }) => lcid !== absentLcid));
        if (options.json === true) {
          printer.json({ orders: seen.size, drift: drifted.length, drifted, missing, purged });
        } else {
          for (const { lcid, differences } of drifted) {
            for (const { field, stored, folded } of differences) {
              printer.out(`${lcid}: ${field} is ${shown(stored)}; its history gives ${shown(folded)}`);
            }
          }
          for (const one of purged) printer.out(purgedSays(one));
          for (const lcid of missing) printer.out(`${printable(lcid)}: no such order`);
          printer.out(`${counted(seen.size, "order")} audited, ${count(drifted.length)} with drift`);
        }
        if (signal.aborted) throw new FoundWrong("interrupted: not every order was audited");
        if (drifted.length + absent.length > 0) throw new FoundWrong("");
      });
    });
}

function shown(value: unknown): string {
  return printable(value === undefined ? "nothing" : JSON.stringify(value));
}
