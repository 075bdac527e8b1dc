import { examine, sized, type Examination, type Finding } from "@junban/operations";
import { migrationStatus } from "@junban/order-store";
import { errorLine } from "@junban/service";
import { withSetting, type Registration } from "../command.ts";
import { FoundWrong, OutOfReach } from "../exit.ts";
import { counted, type Printer } from "../printing.ts";
import type { Cell } from "../table.ts";

export function registerDoctor({ program, env }: Registration): void {
  program
    .command("doctor")
    .description(
      "examine Redis, Postgres, clocks and the fleet; exit 1 when something is wrong, 0 with warnings",
    )
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban doctor")
    .action(async (options: { json?: true }) => {
      // It tells by itself what cannot be reached, and examines the rest.
      await withSetting({ env, need: ["database", "redis"], reach: false }, async ({ services, printer }) => {
        const { databaseUrl, leaseMs, pgPool: poolSize, crashAlone } = services.config;
        const examination = await examine({
          fleet: services.fleet(),
          settings: { leaseMs, poolSize, crashAlone },
          pendingMigrations: async () => (await migrationStatus({ databaseUrl })).pending,
          explain: errorLine,
        });
        const { findings } = examination;
        const wrong = findings.filter(({ severity }) => severity === "wrong").length;
        const warnings = findings.length - wrong;
        if (options.json === true) printer.json({ wrong, warnings, ...examination });
        else print(printer, examination, { wrong, warnings });
        if (!examination.isWhole) throw new OutOfReach("");
        if (wrong > 0) throw new FoundWrong("");
      });
    });
}

function print(
  printer: Printer,
  examination: Examination,
  { wrong, warnings }: { readonly wrong: number; readonly warnings: number },
): void {
  printer.facts(lookedAt(examination));
  for (const finding of examination.findings) {
    printer.out("");
    printFinding(printer, finding);
  }
  const found = wrong === 0 ? "nothing is wrong" : `${counted(wrong, "thing is", "things are")} wrong`;
  printer.out(`\n${found}, ${counted(warnings, "warning")}`);
}

function printFinding(printer: Printer, { severity, code, says, means, fix }: Finding): void {
  printer.text(`${severity.toUpperCase()} ${says} [${code}]`, { indent: "" });
  printer.text(`means: ${means}`, { indent: "  " });
  printer.text(`fix: ${fix}`, { indent: "  " });
}

function lookedAt({ facts }: Examination): readonly (readonly [string, Cell])[] {
  const { redis, postgres, fleet } = facts;
  const of = (one: { readonly usedBytes: number; readonly limitBytes: number | null }): string =>
    `${sized(one.usedBytes)} used of ${one.limitBytes === null ? "no limit" : sized(one.limitBytes)}`;
  return [
    [
      "redis",
      redis.kind === "read"
        ? `${redis.value.version}, ${redis.value.role}, ${of(redis.value)}`
        : "not reached",
    ],
    [
      "postgres",
      postgres.kind === "read"
        ? `${postgres.value.version}, ${postgres.value.connections} of ${counted(postgres.value.connectionLimit, "connection")} open`
        : "not reached",
    ],
    [
      "fleet",
      fleet.kind === "read"
        ? `${fleet.value.workers === null ? "workers not told" : counted(fleet.value.workers, "worker")}, ${counted(fleet.value.queued, "job")} queued`
        : "not read",
    ],
  ];
}
