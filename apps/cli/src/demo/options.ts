import { Command } from "commander";
import { wholeNumber } from "../whole-number.ts";

export interface DemoOptions {
  /** Orders beside the hot one. */
  readonly orders: number;
  readonly workers: number;
  /** Events of the hot order. */
  readonly burst: number;
  readonly seed: number;
  readonly json: boolean;
  readonly keep: boolean;
}

/** @throws {CommanderError | UsageError} */
export function readDemoOptions(args: readonly string[]): DemoOptions {
  const command = new Command("npm run demo --")
    .description(
      "Shows Junban at work on throwaway servers: a stream of order events, real workers, one of them killed, and a check of every order at the end.",
    )
    .option("--orders <number>", "orders with about ten events each", "2000")
    .option("--burst <number>", "events of one more order, the hot one, in the middle of the traffic", "2000")
    .option("--workers <number>", "worker processes", "2")
    .option("--seed <number>", "the same seed tells the same stories", "1")
    .option(
      "--json",
      "one line of JSON at the end of standard output; everything else goes to standard error",
    )
    .option("--keep", "leave servers and workers up at the end, until Ctrl-C")
    .addHelpText(
      "after",
      "\nExit codes: 0 everything is as it must be; 1 something was lost, out of order or different, or the demo failed;\n" +
        "2 bad usage; 3 a server could not be started; 130 Ctrl-C.",
    )
    .exitOverride()
    .showHelpAfterError("(--help shows what is allowed)");
  command.parse(args, { from: "user" });
  const given = command.opts<{
    orders: string;
    burst: string;
    workers: string;
    seed: string;
    json?: true;
    keep?: true;
  }>();
  return {
    orders: wholeNumber(given.orders, { name: "--orders", min: 1, max: 100_000 }),
    burst: wholeNumber(given.burst, { name: "--burst", min: 1, max: 20_000 }),
    workers: wholeNumber(given.workers, { name: "--workers", min: 1, max: 16 }),
    seed: wholeNumber(given.seed, { name: "--seed", min: 0, max: 4_294_967_295 }),
    json: given.json === true,
    keep: given.keep === true,
  };
}
