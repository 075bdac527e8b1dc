import type { Lanes } from "@junban/handoff-lock";
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
  expect(found).toContain("warning PREFIX_UNUSED");
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

test("a lane whose head is old and does not move is found; one that moves is not, however old what stands in it", async () => {
  const fleet = await openFleet();
  const { lanes, prefix } = fleet;
  const redis = freshRedis().connect();
  for (const lcid of ["STANDS", "MOVES", "FRESH"]) {
    await lanes.queue(lcid, [
      { key: "k1", body: "b" },
      { key: "k2", body: "b" },
    ]);
  }
  const old = `${Date.now() - 400_000}:b`;
  for (const lcid of ["STANDS", "MOVES"]) await redis.hset(`${prefix}:body:{${lcid}}`, { k1: old, k2: old });
  // Served as soon as the doctor has looked at it for the first time.
  let looks = 0;
  const inspect: Lanes["inspect"] = async (lcid) => {
    const report = await lanes.inspect(lcid);
    if (lcid === "MOVES" && (looks += 1) === 1) await lanes.withdraw(lcid, { key: "k1", value: "v" });
    return report;
  };
  const moving: Lanes = {
    ...lanes,
    scan: () => lanes.scan(),
    inspect,
    show: async (lcid, page) => lanes.show(lcid, page),
  };
  const { facts } = await examined({ ...fleet, lanes: moving });
  const standing = facts.fleet.kind === "read" ? facts.fleet.value.standing : null;
  expect(standing).toMatchObject({ count: 1, doOthersMove: true, longest: [{ lcid: "STANDS", depth: 2 }] });
  expect(standing?.longest[0]?.headAgeMs).toBeGreaterThanOrEqual(400_000);
});
