import { expect, test } from "vitest";
import { levelOf } from "../../apps/chaos/src/soak/plateau.ts";
import { plotOf } from "../../apps/chaos/src/soak/plot.ts";
import type { Vitals } from "../../apps/chaos/src/soak/vitals.ts";

const MIB = 1_048_576;

function looksOf(count: number, change: (share: number) => Partial<Vitals> = () => ({})): readonly Vitals[] {
  return Array.from({ length: count }, (_, index) => ({
    atSeconds: index * 5,
    published: index * 500,
    workerBytes: 100 * MIB,
    redisBytes: 4 * MIB,
    redisClients: 24,
    laneKeys: 30,
    queueKeys: 40,
    postgresSessions: 12,
    deadShare: 0.08,
    bytesPerRow: 600,
    multixacts: 0,
    ...change(index / count),
  }));
}

test("a run in which nothing grows is level in every series", () => {
  const levels = levelOf(looksOf(80));
  expect(levels).toHaveLength(9);
  expect(levels?.every(({ isLevel }) => isLevel)).toBe(true);
});

test("what grows only in the first quarter, as it warms up, is level", () => {
  const levels = levelOf(looksOf(80, (share) => ({ workerBytes: (60 + 160 * Math.min(share, 0.25)) * MIB })));
  expect(levels?.every(({ isLevel }) => isLevel)).toBe(true);
});

test.each<[string, (share: number) => Partial<Vitals>]>([
  ["memory of a worker", (share) => ({ workerBytes: (100 + 100 * share) * MIB })],
  ["memory of Redis", (share) => ({ redisBytes: (4 + 8 * share) * MIB })],
  ["connections to Redis", (share) => ({ redisClients: 24 + Math.round(40 * share) })],
  ["sessions in Postgres", (share) => ({ postgresSessions: 12 + Math.round(40 * share) })],
  ["keys of lanes", (share) => ({ laneKeys: Math.round(2_000 * share) })],
  ["keys of queues", (share) => ({ queueKeys: Math.round(2_000 * share) })],
  ["dead rows", (share) => ({ deadShare: 0.5 * share })],
  ["bytes a row", (share) => ({ bytesPerRow: 600 + 1_000 * share })],
  ["multixacts", (share) => ({ multixacts: Math.round(1_000 * share) })],
])("%s that grows to the end is found", (name, change) => {
  const growing = levelOf(looksOf(80, change))?.filter(({ isLevel }) => !isLevel);
  expect(growing?.map((level) => level.name)).toEqual([name]);
});

test("a short run is not judged", () => {
  expect(levelOf(looksOf(20))).toBeNull();
});

test("the picture has a panel for each series, and a line for each fault", () => {
  const picture = plotOf(looksOf(80), [{ atSeconds: 60, name: "kill-worker" }], { title: "a picture" });
  expect(picture).toMatch(/^<svg /u);
  for (const title of ["a picture", "memory of Redis (MiB)", "multixacts", "events published a second"]) {
    expect(picture).toContain(title);
  }
  const without = plotOf(looksOf(80), [], { title: "a picture" });
  expect(picture.split("<path").length).toBeGreaterThan(without.split("<path").length);
});
