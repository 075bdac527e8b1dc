import type { AuditFinding } from "@junban/order-store";
import { expect } from "vitest";
import type { Shop } from "./shop.ts";

/** Everything that was decided about an order, without the times and the numbers shared with other orders. */
export interface Picture {
  readonly order: unknown;
  readonly lines: readonly unknown[];
  readonly refs: readonly unknown[];
  readonly events: readonly unknown[];
  readonly outbox: readonly unknown[];
}

const DECIDED: readonly (readonly [keyof Picture, string])[] = [
  [
    "order",
    "select to_jsonb(t) - '{lcid,created_at,updated_at,placed_at}'::text[] as row from orders t where lcid = $1",
  ],
  ["lines", "select to_jsonb(t) - 'lcid' as row from order_lines t where lcid = $1 order by line_id"],
  ["refs", "select to_jsonb(t) - 'lcid' as row from order_refs t where lcid = $1 order by kind, ref"],
  [
    "events",
    `select to_jsonb(t) - '{lcid,seq,source,event_id,event,body_digest,published_at,decided_at,first_decided_at,
       deferred_until,worker}'::text[] as row from order_events t where lcid = $1 order by arrival`,
  ],
  [
    "outbox",
    "select jsonb_build_object('version', version) as row from outbox t where lcid = $1 order by version",
  ],
];

export async function pictureOf(shop: Shop, lcid: string): Promise<Picture> {
  const pictures: Partial<Record<keyof Picture, unknown>> = {};
  for (const [name, query] of DECIDED) {
    const rows = (await shop.sql<{ row: unknown }>(query, [lcid])).map(({ row }) => row);
    pictures[name] = name === "order" ? (rows[0] ?? null) : rows;
  }
  return pictures as unknown as Picture;
}

/** All rows of all tables as they are, to show that nothing at all was written. */
export async function wholeOf(shop: Shop): Promise<unknown> {
  const tables = ["orders", "order_lines", "order_refs", "order_events", "outbox", "purged_orders"];
  const whole: Record<string, unknown> = {};
  for (const table of tables) {
    const rows = await shop.sql<{ row: unknown }>(
      `select to_jsonb(t) as row from ${table} t order by to_jsonb(t)::text`,
    );
    whole[table] = rows.map(({ row }) => row);
  }
  return whole;
}

export async function findingsOf(shop: Shop, lcids?: readonly string[]): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  for await (const finding of shop.store.audit(lcids)) findings.push(finding);
  return findings.filter(({ differences }) => differences.length > 0);
}

/** Counted by SQL alone, so that a mistake of the store's own audit cannot hide: each row is one that must not exist. */
const MISCOUNTS = [
  `select lcid, 'version is not the number of applied events' as what from orders o
   where version <> (select count(*) from order_events e where e.lcid = o.lcid and outcome = 'applied')`,
  `select lcid, 'applied versions are not 1, 2, 3 …' from order_events where outcome = 'applied'
   group by lcid having min(version) <> 1 or max(version) <> count(*) or count(distinct version) <> count(*)`,
  `select lcid, 'arrivals are not 1, 2, 3 …' from order_events
   group by lcid having min(arrival) <> 1 or max(arrival) <> count(*) or count(distinct arrival) <> count(*)`,
  `select lcid, 'the arrival counter is off' from orders o
   where arrivals <> (select count(*) from order_events e where e.lcid = o.lcid)`,
  `select lcid, 'held is not the number of deferred events' from orders o
   where held <> (select count(*) from order_events e where e.lcid = o.lcid and outcome = 'deferred')`,
  `select lcid, 'an applied event without its outbox row' from order_events e where outcome = 'applied'
     and not exists (select from outbox b where b.lcid = e.lcid and b.version = e.version)`,
  `select lcid, 'an outbox row without its applied event' from outbox b
   where not exists (select from order_events e where b.lcid = e.lcid and b.version = e.version)
     and not exists (select from purged_orders p where p.lcid = b.lcid)`,
  `select lcid, 'one version twice in the outbox' from outbox group by lcid, version having count(*) > 1`,
  `select lcid, 'refs or lines without an order' from (select lcid from order_refs union select lcid from order_lines) c
   where not exists (select from orders o where o.lcid = c.lcid)`,
  `select lcid, 'halted without a failed or blocked event, or not halted with one' from orders o
   where halted <> exists (select from order_events e where e.lcid = o.lcid
     and (outcome = 'failed' or outcome = 'deferred' and reason = 'BLOCKED'))`,
];

/** Nothing is half written: neither the store's audit nor plain counting finds a difference in any order. */
export async function expectSound(shop: Shop, options: { poison?: "halt" | "skip" } = {}): Promise<void> {
  const miscounts = options.poison === "skip" ? MISCOUNTS.slice(0, -1) : MISCOUNTS;
  expect(await shop.sql(miscounts.join("\nunion all "))).toEqual([]);
  expect(await findingsOf(shop)).toEqual([]);
}
