import { readEnvelopeText } from "@junban/orders";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import { deed } from "./hostile-arbitraries.ts";
import type { Deed } from "./hostile-arbitraries.ts";
import { Bystanders, expectServed, Intruder, requestKey, stamped } from "./hostile-lab.ts";
import type { PlantedJob } from "./hostile-lab.ts";
import { eventsOf, freshPlace, poolOf, publish, SHORT_LEASE, startWorker } from "./worker-lab.ts";
import type { Place } from "./worker-lab.ts";

/** More of them, for as long as one likes: `JUNBAN_FUZZ_RUNS=200 npx vitest run test/fleet/hostile-fuzz.test.ts` */
const RUNS = Number(process.env["JUNBAN_FUZZ_RUNS"] ?? 2);
const SEED = Number(process.env["JUNBAN_FUZZ_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const EVENTS = 8;

interface Deeds {
  readonly jobs: (PlantedJob & { readonly text: string; readonly told: string })[];
  readonly lanes: Set<string>;
}

/** One run's worth of hostile content among the events of orders that must not notice. */
class Siege {
  readonly #place: Place;
  readonly #intruder: Intruder;
  readonly #name: string;
  readonly #deeds: Deeds = { jobs: [], lanes: new Set() };

  constructor(options: { place: Place; intruder: Intruder; name: string }) {
    this.#place = options.place;
    this.#intruder = options.intruder;
    this.#name = options.name;
  }

  /** Orders whose events are interleaved with what leaves their lanes whole, and orders whose lanes are torn apart. */
  #order(kind: "beset" | "torn", number: number): string {
    return `${this.#name}-${kind}-${number}`;
  }

  #orders(kind: "beset" | "torn"): string[] {
    return [0, 1, 2].map((number) => this.#order(kind, number));
  }

  async lay(deeds: readonly Deed[]): Promise<void> {
    const lcids = [...this.#orders("beset"), ...this.#orders("torn")];
    for (let chunk = 0; chunk < EVENTS; chunk += 2) {
      await publish(
        this.#place,
        lcids.flatMap((lcid) => eventsOf(lcid, chunk + 2).slice(chunk)),
      );
      const [from, to] = [chunk, chunk + 2].map((events) => Math.floor((deeds.length * events) / EVENTS));
      for (const [index, one] of deeds.slice(from, to).entries()) {
        await this.#commit(one, `${this.#name}-${chunk}-${index}`);
      }
    }
  }

  async #commit(one: Deed, id: string): Promise<void> {
    if (one.do === "job") {
      const lcid = this.#order("beset", one.order);
      const data = one.data({ lcid, id });
      const job = await this.#intruder.plantJob({ queue: one.queue, data, fields: one.fields });
      const text = data.toString();
      const told = `${text.slice(0, 300)} beside ${JSON.stringify(one.fields).slice(0, 300)}`;
      this.#deeds.jobs.push({ ...job, text, told });
      return;
    }
    if (one.do === "part") {
      await this.#intruder.plantKind(
        this.#intruder.laneKey(one.part, this.#order("torn", one.order)),
        one.kind,
      );
      return;
    }
    const { key, stamp, body } = one;
    // A key that is none is dropped with the lane's other odd ones, which can take a publisher's two halves apart.
    const lcid = this.#order(key === null ? "beset" : "torn", one.order);
    const text = body({ lcid, id });
    const stored =
      stamp === null
        ? Buffer.concat([Buffer.from(stamped("")), Buffer.from(text)])
        : `${stamp}${text.toString()}`;
    await this.#intruder.plantRequest(lcid, { key: key ?? requestKey(), stored });
  }

  /** Everything ends: jobs failed with a reason or their events on record, lanes served, neighbours applied. */
  async expectOver(): Promise<void> {
    await expectServed(this.#place, this.#orders("beset"), EVENTS);
    await eventually(() => this.#expectEnded(), { withinMs: 60_000, everyMs: 250 });
  }

  async #expectEnded(): Promise<void> {
    for (const job of this.#deeds.jobs) {
      const reading = readEnvelopeText(job.text === "" ? "{}" : job.text);
      const end = await this.#intruder.endOf(job);
      if (reading.kind === "unusable") {
        expect(end, job.told).toMatch(/^failed: (?:its data is not JSON|\w+: .{5,})$/);
      } else {
        expect(end, job.told).toBe("gone");
        expect(await this.#isOnRecord(reading.envelope), job.told).toBe(true);
      }
    }
    for (const lcid of [...this.#orders("beset"), ...this.#orders("torn")]) {
      expect([lcid, await this.#intruder.isServed(lcid), await this.#applied(lcid)]).toEqual([
        lcid,
        true,
        EVENTS,
      ]);
    }
  }

  async #isOnRecord({ source, id }: { readonly source: string; readonly id: string }): Promise<boolean> {
    const found = await poolOf(this.#place).query(
      "SELECT FROM order_events WHERE source = $1 AND event_id = $2",
      [source, id],
    );
    return found.rowCount === 1;
  }

  async #applied(lcid: string): Promise<number> {
    const found = await poolOf(this.#place).query(
      "SELECT FROM order_events WHERE lcid = $1 AND source = '/lab' AND outcome = 'applied'",
      [lcid],
    );
    return found.rowCount ?? 0;
  }
}

test(
  `whatever jobs and lanes hold, it ends, and valid neighbours are applied in order and once (seed ${SEED})`,
  async () => {
    const place = await freshPlace();
    const intruder = new Intruder(place);
    const worker = await startWorker(place, SHORT_LEASE);
    const bystanders = await Bystanders.watch(place, worker);
    let runs = 0;
    const property = fc.asyncProperty(
      fc.array(deed, { minLength: 40, maxLength: 120, size: "max" }),
      async (deeds) => {
        runs += 1;
        const siege = new Siege({ place, intruder, name: `run-${runs}` });
        await siege.lay(deeds);
        await siege.expectOver();
        await bystanders.expectUnharmed();
      },
    );
    // Not made smaller: each try would take seconds, and the seed leads back to the whole.
    await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true }).catch((error: unknown) => {
      throw new Error(`${String(error)}\nThe worker's last words:\n${worker.tree.stdout().slice(-4_000)}`, {
        cause: error,
      });
    });
  },
  60_000 + RUNS * 60_000,
);
