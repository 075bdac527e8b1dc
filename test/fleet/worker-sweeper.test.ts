import { createLanes } from "@junban/handoff-lock";
import type { LaneReport, Lanes } from "@junban/handoff-lock";
import { readEnvelope, requestOf } from "@junban/orders";
import { readConfig } from "@junban/service";
import { describe, expect, onTestFinished, test } from "vitest";
import type { FleetWorker } from "../../apps/worker/src/fleet-worker.ts";
import { HeadWatch } from "../../apps/worker/src/head-watch.ts";
import { openFleet } from "../../apps/worker/src/open-fleet.ts";
import { openServices } from "../../apps/worker/src/services.ts";
import { eventually, freshRedis } from "../support/index.ts";
import {
  environmentOf,
  eventOf,
  eventsOf,
  freshLcid,
  freshPlace,
  idsOf,
  placed,
  publish,
  rowsOf,
  SHORT_LEASE,
} from "./worker-lab.ts";
import type { Environment, Envelope, Place } from "./worker-lab.ts";

const LIMIT_MS = 120_000;
const SHORTEST_LEASE: Environment = { ...SHORT_LEASE, JUNBAN_LEASE_MS: "1600" };
const NO_LINES = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Running {
  readonly worker: FleetWorker;
  stop(): Promise<void>;
}

/** A fleet process inside this one. */
function openWorker(place: Place, env: Environment = {}): Running {
  const config = readConfig({ ...environmentOf(place), ...SHORTEST_LEASE, ...env });
  const services = openServices({ config });
  const fleet = openFleet({ config, services, logger: NO_LINES });
  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    await fleet.close({ deadlineMs: 10_000 });
    await services.close();
  };
  const once = (): Promise<void> => (stopping ??= stop());
  onTestFinished(once);
  return { worker: fleet.worker, stop: once };
}

function openLanes(place: Place): Lanes {
  const lanes = createLanes({ redis: freshRedis().connect(), prefix: place.prefix });
  onTestFinished(() => lanes.close());
  return lanes;
}

function requestsOf(events: readonly Envelope[]): { key: string; body: string }[] {
  return events.map((event) => {
    const reading = readEnvelope(event);
    if (reading.kind !== "usable") throw new Error(reading.rule);
    const { key, body } = requestOf(reading.envelope);
    return { key, body };
  });
}

describe("the sweeper", () => {
  test(
    "serves a lane whose publisher died before it made a job",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      const lanes = openLanes(place);
      await lanes.queue(lcid, requestsOf(eventsOf(lcid, 3)));
      openWorker(place);
      await eventually(async () => (await rowsOf(place)).length === 3, { withinMs: 30_000 });
      expect(await idsOf(place, lcid)).toEqual(eventsOf(lcid, 3).map(({ id }) => id));
      await eventually(async () =>
        expect(await lanes.inspect(lcid)).toMatchObject({ depth: 0, holder: null }),
      );
    },
    LIMIT_MS,
  );

  test(
    "serves a lane whose seats belong to processes that are gone",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      const lanes = openLanes(place);
      const [first, second] = requestsOf(eventsOf(lcid, 2));
      const taken = await lanes.enter(lcid, first);
      expect((await lanes.enter(lcid, second)).kind).toBe("waiting");
      if (taken.kind === "turn") await taken.turn.leave();
      expect((await lanes.inspect(lcid)).depth).toBe(2);
      openWorker(place);
      await eventually(async () => (await rowsOf(place)).length === 2, { withinMs: 30_000 });
    },
    LIMIT_MS,
  );

  test(
    "mends a lane that lost a body, and serves what is left of it",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      const lanes = openLanes(place);
      const requests = requestsOf(eventsOf(lcid, 3));
      await lanes.queue(lcid, requests);
      await freshRedis()
        .connect()
        .hdel(`${place.prefix}:body:{${lcid}}`, requests[1]?.key ?? "");
      expect((await lanes.inspect(lcid)).consistent).toBe(false);
      openWorker(place);
      await eventually(async () => (await rowsOf(place)).length === 2, { withinMs: 30_000 });
      expect(await idsOf(place, lcid)).toEqual([`${lcid}-0`, `${lcid}-2`]);
      expect(await lanes.inspect(lcid)).toMatchObject({ depth: 0, consistent: true });
    },
    LIMIT_MS,
  );

  test(
    "ends deferrals whose time is up, each order on its own",
    async () => {
      const place = await freshPlace();
      const [early, other] = [freshLcid(), freshLcid()];
      const capture = { captureId: "c-1", authorizationId: "a-never", amount: 10, currency: "JPY" };
      openWorker(place, { JUNBAN_HOLD_PAYMENT_MS: "500" });
      await publish(place, [
        placed(early),
        eventOf(early, 1, { type: "payment.captured", data: capture }),
        placed(other),
        eventOf(other, 1, { type: "payment.captured", data: capture }),
      ]);
      await eventually(
        async () => {
          const ended = (await rowsOf(place)).filter(({ outcome }) => outcome === "rejected");
          expect(ended.map(({ reason }) => reason)).toEqual([
            "PREREQ_TIMEOUT:AUTHORIZATION_NOT_SEEN",
            "PREREQ_TIMEOUT:AUTHORIZATION_NOT_SEEN",
          ]);
        },
        { withinMs: 30_000 },
      );
    },
    LIMIT_MS,
  );

  test(
    "runs in one process of the fleet at a time, and another takes over when that one stops",
    async () => {
      const place = await freshPlace();
      const fleet = [openWorker(place), openWorker(place), openWorker(place)];
      const sweeping = (): Running[] => fleet.filter(({ worker }) => worker.sweeps());
      await eventually(() => sweeping().length === 1, { withinMs: 30_000 });
      const first = sweeping()[0];
      await first?.stop();
      await eventually(() => sweeping().length === 1 && sweeping()[0] !== first, { withinMs: 30_000 });
      expect(sweeping()).toHaveLength(1);
    },
    LIMIT_MS,
  );
});

describe("watching heads", () => {
  const head = (headKey: string): Pick<LaneReport, "lcid"> & { headKey: string } => ({ lcid: "a", headKey });

  test("a head counts as standing still only after the whole time, at every look", () => {
    const heads = new HeadWatch({ stillMs: 100 });
    expect(heads.standsStill(head("k1"), 0)).toBe(false);
    heads.endRound();
    expect(heads.standsStill(head("k1"), 99)).toBe(false);
    heads.endRound();
    expect(heads.standsStill(head("k1"), 100)).toBe(true);
  });

  test("another head, or a look that did not meet the lane, begins anew", () => {
    const heads = new HeadWatch({ stillMs: 100 });
    heads.standsStill(head("k1"), 0);
    heads.endRound();
    expect(heads.standsStill(head("k2"), 200)).toBe(false);
    heads.endRound();
    heads.endRound();
    expect(heads.standsStill(head("k2"), 400)).toBe(false);
  });
});
