import { forgetSubscriber, forgetSubscriberAct, type Forgotten, printable } from "@junban/operations";
import { withSetting, type Registration } from "../command.ts";
import { agree } from "../confirm.ts";
import { FoundWrong } from "../exit.ts";
import { NotedActs } from "../noted.ts";
import { count, counted } from "../printing.ts";

export function registerUpdates({ program, env }: Registration): void {
  const updates = program
    .command("updates")
    .description("who is subscribed to order updates, what waits for each name, and who serves it")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban updates")
    .action(async (options: { json?: true }) => {
      await withSetting({ env, need: ["redis"] }, async ({ services, printer }) => {
        const backlog = await services.queues().updates();
        if (options.json === true) return printer.json(backlog);
        const { incoming, names } = backlog;
        printer.table(
          ["name", "updates waiting", "dead jobs", "processes"],
          [{ name: "(not copied yet)", ...incoming }, ...names].map((one) => [
            one.name,
            count(one.waiting),
            count(one.failed),
            one.consumers,
          ]),
        );
        if (names.length === 0) printer.note("no name is subscribed");
        for (const { name, consumers } of names) {
          if (consumers === 0) printer.note(`nobody serves ${name}: what waits for it piles up in Redis`);
        }
      });
    });
  registerForget({ program: updates, env });
}

function registerForget({ program, env }: Registration): void {
  program
    .command("forget")
    .description(
      "end a name's subscription and delete the updates that wait for it; 1 while somebody serves it",
    )
    .argument("<name>", "the subscriber's name, as junban updates lists it")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExample: junban updates forget billing")
    .action(async (name: string, options: { yes?: true; json?: true }) => {
      await withSetting({ env, need: ["database", "redis"] }, async (setting) => {
        const { services, printer, signal } = setting;
        const { names } = await services.queues().updates();
        const subscribed = names.find((one) => one.name === name);
        if (subscribed === undefined) {
          // What a forgetting that was interrupted left behind goes, and nothing that anybody would miss.
          await forgetSubscriber(services.queues(), { name });
          if (options.json === true) printer.json({ name, kind: "unknown" });
          throw new FoundWrong(notSubscribed(name));
        }
        await agree(process, {
          says:
            `This ends the subscription of ${name} to order updates and deletes ${counted(subscribed.waiting, "update")} that ` +
            "wait for it, for good. Whoever subscribes the name again gets what happens from then on.",
          yes: options.yes === true,
          isGrave: true,
          signal,
        });
        const result = await new NotedActs(setting).done(
          forgetSubscriberAct({ name }),
          () => forgetSubscriber(services.queues(), { name }),
          { told: forgottenSays, inRedis: true },
        );
        if (options.json === true) printer.json({ name, ...result });
        if (result.kind === "unknown") throw new FoundWrong(notSubscribed(name));
        if (options.json !== true) {
          printer.out(`${name} is forgotten; ${counted(result.waiting, "update")} deleted`);
        }
      });
    });
}

function notSubscribed(name: string): string {
  return `${printable(name)} is not subscribed`;
}

function forgottenSays(result: Forgotten): string {
  if (result.kind === "unknown") return "It was not subscribed.";
  return `${counted(result.waiting, "update")} deleted.`;
}
