import { ConfigError } from "@junban/service";
import { createProgram } from "../../apps/cli/src/program.ts";

/** Splits as a shell would, as far as examples need it. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/gu)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

/** Runs an example where no address is known: one that can be understood gets as far as asking for it. */
export async function isUnderstood(example: string): Promise<boolean> {
  const [, ...words] = wordsOf(example);
  const program = createProgram({});
  const ending = await program.parseAsync(words, { from: "user" }).catch((error: unknown) => error);
  return ending instanceof ConfigError && /DATABASE_URL|REDIS_URL/u.test(ending.message);
}
