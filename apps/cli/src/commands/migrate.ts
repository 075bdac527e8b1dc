import { migrate, migrationStatus, type MigrationReport } from "@junban/order-store";
import { withSetting, type Registration } from "../command.ts";
import { FoundWrong } from "../exit.ts";

export function registerMigrate({ program, env }: Registration): void {
  const command = program
    .command("migrate")
    .description("bring the database schema up to date; running it twice, or twice at once, is harmless")
    .addHelpText("after", "\nExample: junban migrate")
    .action(async () => {
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        printer.out(said(await migrate({ databaseUrl: services.config.databaseUrl })));
      });
    });
  command
    .command("status")
    .description("say which migrations stand; exit 1 if any is pending")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban migrate status")
    .action(async (options: { json?: true }) => {
      await withSetting({ env, need: ["database"] }, async ({ services, printer }) => {
        const status = await migrationStatus({ databaseUrl: services.config.databaseUrl });
        const lines = Object.entries(status).map(
          ([word, names]) => [word, listed(names as string[])] as const,
        );
        if (options.json === true) printer.json(status);
        else printer.facts(lines);
        if (status.pending.length > 0) throw new FoundWrong("run `junban migrate` to apply what is pending");
      });
    });
}

function said({ applied, ahead }: MigrationReport): string {
  if (applied.length > 0) return `applied: ${applied.join(", ")}`;
  if (ahead.length === 0) return "the schema is up to date";
  return `nothing to do: the schema is newer than this build, which does not know ${ahead.join(", ")} and needs none of it`;
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
