import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { migrateUpstream } from "@junban/upstream-outbox";
import { onTestFinished } from "vitest";
import { USERS } from "../console/console-process.ts";
import { environmentOf, freshPlace } from "../fleet/worker-lab.ts";
import { freshDatabase } from "../support/index.ts";

/** What a process shows at `/metrics`: names, and for those that have samples their labels. */
export type Exposed = ReadonlyMap<string, ReadonlySet<string>>;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** A token's hash; nobody sends here. */
const TOKENS = JSON.stringify([{ name: "shop", sha256: "0".repeat(64), sources: ["/shop"] }]);
const SAYS: Readonly<Record<string, string>> = {
  worker: "the worker serves",
  relay: "the relay runs",
  gateway: "the gateway serves",
  forwarder: "the forwarder runs",
  console: "the console serves",
};

export const PROCESSES = Object.keys(SAYS);

/** The real processes, each by its own program, and what each of them exposes. They end with the test. */
export async function exposedByAll(): Promise<ReadonlyMap<string, Exposed>> {
  const place = await freshPlace();
  const producer = await freshProducer();
  const exposed = new Map<string, Exposed>();
  for (const name of PROCESSES) {
    const databaseUrl = name === "forwarder" ? producer : place.databaseUrl;
    const scrape = await startScraped(name, { ...environmentOf(place), DATABASE_URL: databaseUrl });
    exposed.set(name, exposedIn(await scrape()));
  }
  return exposed;
}

/** A database with an outbox for producers in it. */
export async function freshProducer(): Promise<string> {
  const databaseUrl = await freshDatabase();
  await migrateUpstream({ databaseUrl });
  return databaseUrl;
}

/** Starts one of the processes by its own program; the answer asks for its metrics. It ends with the test. */
export async function startScraped(
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<() => Promise<string>> {
  const tree = await startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", `apps/${name}/src/main.ts`],
    env: {
      PATH: process.env["PATH"],
      JUNBAN_HTTP_PORT: "0",
      JUNBAN_GATEWAY_HTTP_PORT: "0",
      JUNBAN_CONSOLE_HTTP_PORT: "0",
      JUNBAN_GATEWAY_TOKENS: TOKENS,
      JUNBAN_CONSOLE_USERS: USERS,
      ...env,
    },
    cwd: ROOT,
  });
  onTestFinished(async () => {
    await tree.stop({ signal: "SIGKILL" });
  });
  const line = await tree.waitForLine(SAYS[name] ?? "", { withinMs: 60_000 });
  const { httpPort } = JSON.parse(line) as { httpPort: number };
  return async () => (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
}

function exposedIn(text: string): Exposed {
  const exposed = new Map<string, Set<string>>();
  for (const [, name = ""] of text.matchAll(/^# TYPE (\w+) /gm)) exposed.set(name, new Set());
  for (const [, sample = "", labels = ""] of text.matchAll(/^(\w+)\{([^}]*)\}/gm)) {
    const name = exposed.has(sample) ? sample : sample.replace(/_(bucket|sum|count)$/, "");
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) {
      if (label !== "le") exposed.get(name)?.add(label);
    }
  }
  return exposed;
}
