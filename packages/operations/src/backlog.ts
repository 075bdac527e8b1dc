import type { Lanes } from "@junban/handoff-lock";
import type { Fleet } from "./fleet.ts";

/** What the fleet has not done yet. */
export interface Backlog {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  /** Requests that stand in lanes; not looked at while queues are busy. */
  readonly standing: number;
  /** Orders with overdue held events, up to 100; not looked at while queues are busy. */
  readonly due: number;
}

const DUE_LOOKED_AT = 100;
const LANES_AT_ONCE = 100;

export async function readBacklog({ queues, lanes, store }: Fleet): Promise<Backlog> {
  const families = Object.values(await queues.counts());
  const sum = (of: (family: (typeof families)[number]) => number): number =>
    families.reduce((total, family) => total + of(family), 0);
  const queued = {
    waiting: sum(({ waiting, prioritized }) => waiting + prioritized),
    active: sum(({ active }) => active),
    delayed: sum(({ delayed }) => delayed),
  };
  // Looking through all lanes is only worth it once the queues are empty.
  if (queued.waiting + queued.active + queued.delayed > 0) return { ...queued, standing: 0, due: 0 };
  const standing = await requestsIn(lanes);
  const due = await store.dueHeld({ limit: DUE_LOOKED_AT });
  return { ...queued, standing, due: due.length };
}

export function isIdle(backlog: Backlog): boolean {
  return Object.values(backlog).every((part) => part === 0);
}

async function requestsIn(lanes: Lanes): Promise<number> {
  let standing = 0;
  for await (const page of lanes.scan()) {
    for (let start = 0; start < page.length; start += LANES_AT_ONCE) {
      const some = page.slice(start, start + LANES_AT_ONCE);
      const reports = await Promise.all(some.map((lcid) => lanes.inspect(lcid)));
      for (const { depth } of reports) standing += depth;
    }
  }
  return standing;
}
