import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProxy } from "@junban/sandbox";
import type { TcpProxy } from "@junban/sandbox";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { environmentOf, eventsOf, freshLcid, freshPlace, publish, SHORT_LEASE } from "../fleet/worker-lab.ts";
import type { Place } from "../fleet/worker-lab.ts";
import { eventually } from "../support/index.ts";
import { freshProducer, startScraped } from "./processes.ts";
import { findPromtool, promtool } from "./promtool.ts";

const LIMIT_MS = 180_000;
const WITHIN = { withinMs: 60_000 };
const RULES = fileURLToPath(new URL("../../deploy/prometheus/alerts.yaml", import.meta.url));
const KINDS = ["worker", "relay", "gateway", "forwarder"];

/** What each kind of process shows at `/metrics`. */
type Scrapes = ReadonlyMap<string, string>;

interface Fleet {
  readonly place: Place;
  readonly postgres: TcpProxy;
  readonly redis: TcpProxy;
  scrape(): Promise<Scrapes>;
}

beforeAll(async () => {
  await findPromtool();
}, LIMIT_MS);

test(
  "Postgres does not answer: whoever needs it is not ready, what waits is counted, and somebody is called",
  async () => {
    const fleet = await startFleet();
    fleet.postgres.drop();
    await publish(fleet.place, eventsOf(freshLcid(), 3));
    const scrapes = await eventually(async () => {
      const seen = await fleet.scrape();
      expect(readyIn(seen)).toEqual({ worker: "0", relay: "0", gateway: "1", forwarder: "0" });
      expect(figureOf(seen, "junban_requests_standing")).toBe("3");
      expect(figureOf(seen, "junban_dead_letters")).toBe("Nan");
      return seen;
    }, WITHIN);
    await expectCritical(scrapes, [
      'alertname="JunbanNobodyReady",process="worker"',
      'alertname="JunbanNobodyReady",process="relay"',
      'alertname="JunbanNobodyReady",process="forwarder"',
      'alertname="JunbanNothingApplied"',
    ]);
    fleet.postgres.heal();
    await untilReady(fleet);
  },
  LIMIT_MS,
);

test(
  "Redis does not answer: nobody is ready, no figure of the fleet pretends to be one, and somebody is called",
  async () => {
    const fleet = await startFleet();
    fleet.redis.drop();
    const scrapes = await eventually(async () => {
      const seen = await fleet.scrape();
      expect(readyIn(seen)).toEqual({ worker: "0", relay: "0", gateway: "0", forwarder: "0" });
      expect(figureOf(seen, "junban_requests_standing")).toBe("Nan");
      expect(figureOf(seen, "junban_dead_letters")).toBe("Nan");
      return seen;
    }, WITHIN);
    await expectCritical(
      scrapes,
      KINDS.map((kind) => `alertname="JunbanNobodyReady",process="${kind}"`),
    );
    fleet.redis.heal();
    await untilReady(fleet);
  },
  LIMIT_MS,
);

/** A process of each kind, ready, with a proxy before each server. */
async function startFleet(): Promise<Fleet> {
  const place = await freshPlace();
  const producer = new URL(await freshProducer());
  const [postgres, redis] = await Promise.all([
    startProxy({ url: place.databaseUrl }),
    startProxy({ url: place.redisUrl }),
  ]);
  onTestFinished(async () => {
    await Promise.all([postgres.close(), redis.close()]);
  });
  producer.host = new URL(postgres.url).host;
  const env = {
    ...environmentOf({ ...place, databaseUrl: postgres.url, redisUrl: redis.url }),
    ...SHORT_LEASE,
    JUNBAN_RELAY: "off",
  };
  const asks = new Map<string, () => Promise<string>>();
  for (const kind of KINDS) {
    const own = kind === "forwarder" ? { DATABASE_URL: producer.href } : {};
    asks.set(kind, await startScraped(kind, { ...env, ...own }));
  }
  const fleet = {
    place,
    postgres,
    redis,
    scrape: async () =>
      new Map(await Promise.all([...asks].map(async ([kind, ask]) => [kind, await ask()] as const))),
  };
  await untilReady(fleet);
  return fleet;
}

async function untilReady(fleet: Fleet): Promise<void> {
  await eventually(async () => {
    const seen = await fleet.scrape();
    expect(readyIn(seen)).toEqual({ worker: "1", relay: "1", gateway: "1", forwarder: "1" });
    expect(figureOf(seen, "junban_dead_letters")).toBe("0");
  }, WITHIN);
}

function readyIn(scrapes: Scrapes): Record<string, string | undefined> {
  return Object.fromEntries(
    [...scrapes].map(([kind, text]) => [kind, /^junban_ready\{process="\w+"\} (\S+)$/m.exec(text)?.[1]]),
  );
}

/** As the worker tells it. */
function figureOf(scrapes: Scrapes, name: string): string | undefined {
  return new RegExp(`^${name} (\\S+)$`, "m").exec(scrapes.get("worker") ?? "")?.[1];
}

/** What fires when Prometheus sees nothing but these figures for a quarter of an hour. */
async function expectCritical(scrapes: Scrapes, alerts: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "junban-outage-"));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  const expr = 'count by (alertname, process) (ALERTS{alertstate="firing", severity="critical"})';
  const seen = {
    interval: "1m",
    input_series: [...scrapes].flatMap(([kind, text]) => seriesIn(text, kind)),
    promql_expr_test: [
      { expr, eval_time: "15m", exp_samples: alerts.map((labels) => ({ labels: `{${labels}}`, value: 1 })) },
    ],
  };
  const file = join(folder, "outage.test.yaml");
  // JSON is YAML as well.
  await writeFile(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: "1m", tests: [seen] }));
  expect(await promtool(["test", "rules", file])).toContain("SUCCESS");
}

function seriesIn(text: string, instance: string): { series: string; values: string }[] {
  return [...text.matchAll(/^(junban_\w+)(?:\{([^}]*)\})? (\S+)$/gm)].map(
    ([, name = "", labels = "", value = ""]) => ({
      series: `${name}{instance="${instance}"${labels === "" ? "" : `,${labels}`}}`,
      // Prometheus reads its own way of saying it only.
      values: `${value.replace("Nan", "NaN")} `.repeat(20).trim(),
    }),
  );
}
