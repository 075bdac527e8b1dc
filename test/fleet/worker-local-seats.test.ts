import type { Settled } from "@junban/order-store";
import { describe, expect, test } from "vitest";
import { LocalSeats } from "../../apps/worker/src/local-seats.ts";
import type { SeatEnd, ServedLane, Way } from "../../apps/worker/src/local-seats.ts";

const HOUR_MS = 3_600_000;

function settled(key: string): Settled {
  return {
    key,
    source: "/s",
    id: key,
    type: "line.added",
    outcome: "applied",
    reason: null,
    version: 1,
    repeat: false,
  };
}

async function endOf(way: Way): Promise<SeatEnd> {
  expect(way.kind).toBe("sit");
  return way.kind === "sit" ? way.end : { kind: "again" };
}

function tellAll(seats: LocalSeats, served: ServedLane, key: string): void {
  for (const deliver of seats.claim(served, [settled(key)]).deliveries) deliver();
}

class Time {
  nowMs = 0;
  readonly clock = (): number => this.nowMs;
}

describe("local seats", () => {
  test("one job goes to the lane, the others of this process wait for its answer", () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS });
    expect(seats.approach("a", "k1").kind).toBe("first");
    expect(seats.approach("a", "k2").kind).toBe("sit");
    expect(seats.approach("b", "k3").kind).toBe("first");
  });

  test("the batch that holds a seated request ends its wait, and the handoff need not tell anybody", async () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS });
    seats.approach("a", "k1");
    const served = seats.open("a", "k1");
    const second = seats.approach("a", "k2");
    const copy = seats.approach("a", "k2");
    const { own, deliveries } = seats.claim(served, [settled("k1"), settled("k2"), settled("k3")]);
    expect(own).toEqual(["k1", "k2"]);
    expect(served.carriedOutcome).toBe("applied");
    for (const deliver of deliveries) deliver();
    expect(await endOf(second)).toEqual({ kind: "settled", outcome: "applied" });
    expect(await endOf(copy)).toEqual({ kind: "settled", outcome: "applied" });
  });

  test("a job that comes after its request was settled is told so, and the next handoff takes away what was left for it", () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS, passedLimit: 2 });
    const served = seats.open("a", null);
    expect(seats.claim(served, [settled("k1"), settled("k2"), settled("k3")])).toMatchObject({
      own: [],
      delivered: [],
    });
    seats.goesOn(served);
    expect(seats.approach("a", "k1").kind).toBe("told");
    expect(seats.approach("a", "k3").kind).toBe("told");
    expect(seats.approach("a", "k1").kind).toBe("sit");
    expect(seats.claim(served, [settled("k4")]).delivered).toEqual(["k1", "k3"]);
    expect(seats.claim(served, []).delivered).toEqual([]);
  });

  test("while a handoff is on its way, which may be the last, such a job asks the lane, so that nothing is left for it", () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS });
    const served = seats.open("a", null);
    seats.claim(served, [settled("k1"), settled("k2")]);
    expect(seats.approach("a", "k1").kind).toBe("knock");
    seats.goesOn(served);
    expect(seats.approach("a", "k2").kind).toBe("told");
    expect(seats.claim(served, []).delivered).toEqual(["k2"]);
  });

  test("no handoff takes away more than it may, and the next one the rest", () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS });
    const served = seats.open("a", null);
    const keys = Array.from({ length: 1_001 }, (_, index) => `k${index}`);
    seats.claim(served, keys.map(settled));
    seats.goesOn(served);
    for (const key of keys) seats.approach("a", key);
    expect(seats.claim(served, []).delivered).toHaveLength(1_000);
    expect(seats.claim(served, []).delivered).toEqual(["k1000"]);
  });

  test("whoever sits longer than the wait makes sure at the lane that its request stands", async () => {
    const time = new Time();
    const seats = new LocalSeats({ waitMs: 1000, clock: time.clock });
    const served = seats.open("a", null);
    const way = seats.approach("a", "k1");
    seats.sendOverdue(served);
    time.nowMs += 1001;
    seats.sendOverdue(served);
    expect(await endOf(way)).toEqual({ kind: "knock" });
    const known = seats.waits("a", "k1", "knock");
    let left = false;
    void endOf(known).then(() => {
      left = true;
    });
    time.nowMs += 1001;
    seats.sendOverdue(served);
    await Promise.resolve();
    expect(left).toBe(false);
    time.nowMs += 20_000;
    seats.sendOverdue(served);
    expect(await endOf(known)).toEqual({ kind: "knock" });
  });

  test("whoever sits at a lane that stands still frees its slot, and progress of the lane keeps the others", async () => {
    const time = new Time();
    const seats = new LocalSeats({ waitMs: 1000, clock: time.clock });
    seats.open("still", null);
    const moving = seats.open("moving", null);
    const stuck = seats.approach("still", "k1");
    const well = seats.approach("moving", "k1");
    time.nowMs += 900;
    seats.claim(moving, []);
    const late = seats.approach("still", "k2");
    time.nowMs += 101;
    seats.freeStill();
    expect(await endOf(stuck)).toEqual({ kind: "stepBack" });
    tellAll(seats, moving, "k1");
    expect(await endOf(well)).toMatchObject({ kind: "settled" });
    time.nowMs += 900;
    seats.freeStill();
    expect(await endOf(late)).toEqual({ kind: "stepBack" });
  });

  test("the end of the turn sends the others to the lane, or back when there was trouble", async () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS });
    const one = seats.open("a", null);
    const early = seats.approach("a", "k1");
    seats.close(one, { kind: "again" });
    expect(await endOf(early)).toEqual({ kind: "again" });
    expect(seats.approach("a", "k1").kind).toBe("first");
    const other = seats.open("a", null);
    const late = seats.approach("a", "k2");
    seats.close(other, { kind: "stepBack" });
    expect(await endOf(late)).toEqual({ kind: "stepBack" });
  });

  test("when the lane is held elsewhere, each job stands there by itself", async () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS });
    seats.approach("a", "k1");
    const other = seats.approach("a", "k2");
    expect(seats.waits("a", "k1", "first").kind).toBe("stand");
    expect(await endOf(other)).toEqual({ kind: "again" });
    expect(seats.approach("a", "k2").kind).toBe("stand");
    seats.stood("a");
    seats.stood("a");
    expect(seats.approach("a", "k3").kind).toBe("first");
  });

  test("a turn taken after a lost lease keeps its seats when the lost one ends", async () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS });
    const lost = seats.open("a", null);
    const fresh = seats.open("a", null);
    const way = seats.approach("a", "k1");
    seats.close(lost, { kind: "again" });
    tellAll(seats, fresh, "k1");
    expect(await endOf(way)).toEqual({ kind: "settled", outcome: "applied" });
    seats.close(fresh, { kind: "again" });
    expect(seats.claim(lost, [settled("k2")]).own).toEqual([]);
  });

  test("a stopping process lets nobody sit", async () => {
    const seats = new LocalSeats({ waitMs: HOUR_MS });
    seats.open("a", null);
    const before = seats.approach("a", "k1");
    seats.stepBackAll();
    expect(await endOf(before)).toEqual({ kind: "stepBack" });
    expect(await endOf(seats.approach("a", "k2"))).toEqual({ kind: "stepBack" });
  });
});
