import { afterAll, onTestFinished } from "vitest";
import { freshDatabase, freshRedis } from "../support/index.ts";
import { openConsole } from "./console-process.ts";
import type { Console, Environment, Place } from "./console-process.ts";

export async function freshPlace(): Promise<Place> {
  const { url, prefix } = freshRedis();
  return { databaseUrl: await freshDatabase(), redisUrl: url, prefix };
}

/** A console that ends with the test. */
export async function startConsole(place: Place, env: Environment = {}): Promise<Console> {
  const opened = await openConsole(place, env);
  onTestFinished(async () => {
    await opened.tree.stop({ signal: "SIGKILL" });
  });
  return opened;
}

/** One for all tests of a file. */
export async function consoleOfFile(place: Place, env: Environment = {}): Promise<Console> {
  const opened = await openConsole(place, env);
  afterAll(async () => {
    await opened.tree.stop({ signal: "SIGKILL" });
  });
  return opened;
}
