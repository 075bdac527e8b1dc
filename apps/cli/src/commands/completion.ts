import { Argument } from "commander";
import type { Registration } from "../command.ts";
import { completionFor, SHELLS, type Shell } from "../completion.ts";

export function registerCompletion({ program }: Registration): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText("after", '\nExample: eval "$(junban completion bash)"')
    .action((shell: Shell) => {
      process.stdout.write(completionFor(shell, program));
    });
}
