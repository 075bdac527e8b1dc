import { examine, type Examination } from "@junban/operations";
import { migrationStatus } from "@junban/order-store";
import { expect, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { openFleet, type TestFleet } from "./fleet.ts";

async function examined(fleet: TestFleet): Promise<Examination> {
  return examine({
    fleet,
    settings: { leaseMs: 10_000, poolSize: 8, crashAlone: 3 },
    pendingMigrations: async () => (await migrationStatus({ databaseUrl: fleet.databaseUrl })).pending,
    explain: String,
  });
}

test("servers that keep no file, and a fleet without workers, are found as they are", async () => {
  const { findings, isWhole } = await examined(await openFleet());
  expect(isWhole).toBe(true);
  // The run's own servers: fast, and good for nothing that should last.
  const found = findings.map(({ code, severity }) => `${severity} ${code}`);
  expect(found).toContain("wrong REDIS_WITHOUT_FILE");
  expect(found).toContain("warning NO_WORKERS");
  expect(findings.filter(({ about }) => about === "clocks")).toEqual([]);
});

test("a Postgres that is away leaves Redis examined", async () => {
  const fleet = await openFleet({ databaseUrl: "postgres://nobody@127.0.0.1:9/nowhere" });
  const { findings, isWhole, facts } = await examined(fleet);
  expect(isWhole).toBe(false);
  expect(facts.redis.kind).toBe("read");
  expect(findings[0]).toMatchObject({ code: "POSTGRES_AWAY", severity: "wrong" });
});

test("a lane whose holders vanish is found, and the turn that goes on is not counted as lost", async () => {
  const fleet = await openFleet();
  const lost = async (): Promise<readonly string[]> =>
    (await examined(fleet)).findings.flatMap(({ code, says }) => (code === "LANE_LOSES_TURNS" ? [says] : []));
  await fleet.lanes.queue("A", [{ key: "k", body: "b" }]);
  await freshRedis().connect().set(`${fleet.prefix}:tries:{A}`, 1);
  const entry = await fleet.lanes.enter("A");
  expect(entry.kind === "turn" && entry.turn.tries).toBe(2);
  expect(await lost()).toEqual([]);
  await freshRedis().connect().set(`${fleet.prefix}:tries:{A}`, 3);
  expect(await lost()).toEqual(["2 turns in a row were lost in the lane of A"]);
});
