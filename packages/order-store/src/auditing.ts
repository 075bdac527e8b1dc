import {
  derive,
  fold,
  HistoryError,
  interpret,
  type OrderState,
  type EventEnvelope,
  type OrderEvent,
  type Ref,
} from "@junban/orders";
import { sql } from "kysely";
import { DERIVED_COLUMNS, LINE_COLUMNS, ORDER_COLUMNS, REF_COLUMNS } from "./columns.ts";
import { describe } from "./errors.ts";
import type { MaintenanceContext } from "./locked-order.ts";
import { lineRow, orderRow, refRow } from "./rows.ts";
import { BEGIN_SNAPSHOT, COMMIT, Session } from "./session.ts";
import { anyOf, bind, db, statement } from "./statement.ts";
import type { AuditDifference, AuditFinding } from "./types.ts";
import type { OrderRow } from "./writing.ts";

/** Folds each order's applied events and compares the result with its rows, column by column. */

/** Orders read in one snapshot. */
const PAGE_SIZE = 50;

const pageOfOrders = statement<{ after: string; limit: number }>()("page_of_orders", ({ after, limit }) =>
  db
    .selectFrom("orders")
    .select("lcid")
    .where("lcid", ">", after)
    .orderBy("lcid")
    .limit(sql<number>`${limit}::int`),
);
type Lcids = { lcids: readonly string[] };
const ordersNamed = statement<Lcids>()("orders_named", ({ lcids }) =>
  db
    .selectFrom("orders")
    .select([...ORDER_COLUMNS, ...DERIVED_COLUMNS])
    .where("lcid", "=", anyOf(lcids))
    .orderBy("lcid"),
);
const linesNamed = statement<Lcids>()("lines_named", ({ lcids }) =>
  db
    .selectFrom("order_lines")
    .select(LINE_COLUMNS)
    .where("lcid", "=", anyOf(lcids))
    .orderBy("lcid")
    .orderBy("line_id"),
);
const refsAll = statement<Lcids>()("refs_all", ({ lcids }) =>
  db.selectFrom("order_refs").select(REF_COLUMNS).where("lcid", "=", anyOf(lcids)),
);
const historyNamed = statement<Lcids>()("history_named", ({ lcids }) =>
  db
    .selectFrom("order_events")
    .select(["lcid", "outcome", "reason", "version", "arrival", "type"])
    .select(sql`case when outcome = 'applied' then event end`.as("event"))
    .where("lcid", "=", anyOf(lcids))
    .orderBy("lcid")
    .orderBy("arrival"),
);
const newsNamed = statement<Lcids>()("news_named", ({ lcids }) =>
  db
    .selectFrom("outbox")
    .select(["lcid", "version"])
    .where("lcid", "=", anyOf(lcids))
    .where("published_at", "is", null),
);

interface HistoryRow {
  readonly lcid: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly version: number | null;
  readonly arrival: number;
  readonly event: unknown;
}

export async function* audit(
  context: MaintenanceContext,
  lcids?: readonly string[],
): AsyncIterable<AuditFinding> {
  if (lcids !== undefined) {
    for (let start = 0; start < lcids.length; start += PAGE_SIZE) {
      yield* await auditPage(context, lcids.slice(start, start + PAGE_SIZE));
    }
    return;
  }
  let after = "";
  for (;;) {
    const page = await nextPage(context, after);
    if (page.length === 0) return;
    yield* await auditPage(context, page);
    after = page.at(-1) ?? after;
  }
}

async function nextPage({ pool, limits }: MaintenanceContext, after: string): Promise<readonly string[]> {
  const session = await Session.open(pool, limits);
  try {
    const [page] = await session.trip([bind(pageOfOrders, { after, limit: PAGE_SIZE })]);
    return page.rows.map(({ lcid }) => lcid);
  } finally {
    await session.close();
  }
}

/** One snapshot for rows and history alike: an audit of a living fleet must not see half of a commit. */
async function auditPage(
  { pool, limits }: MaintenanceContext,
  lcids: readonly string[],
): Promise<readonly AuditFinding[]> {
  const session = await Session.open(pool, limits);
  try {
    const [, orders, lines, refs, history, news] = await session.trip([
      BEGIN_SNAPSHOT,
      bind(ordersNamed, { lcids }),
      bind(linesNamed, { lcids }),
      bind(refsAll, { lcids }),
      bind(historyNamed, { lcids }),
      bind(newsNamed, { lcids }),
      COMMIT,
    ]);
    const of = <Row extends { lcid: string }>(rows: readonly Row[], lcid: string): readonly Row[] =>
      rows.filter((row) => row.lcid === lcid);
    return orders.rows.map((order) => {
      const past = of(history.rows, order.lcid);
      const stored = { order, lines: of(lines.rows, order.lcid), refs: of(refs.rows, order.lcid) };
      const newsVersions = of(news.rows, order.lcid).map(({ version }) => version);
      return {
        lcid: order.lcid,
        differences: [...bookkeeping(order, past, newsVersions), ...againstHistory(stored, past)],
      };
    });
  } finally {
    await session.close();
  }
}

type Stored = {
  readonly order: Record<string, unknown> & { readonly lcid: string };
  readonly lines: readonly (Record<string, unknown> & { readonly line_id: string })[];
  readonly refs: readonly (Record<string, unknown> & { readonly kind: string; readonly ref: string })[];
};

/** What can be counted: versions and arrivals without gaps, held events, the halt. */
function bookkeeping(
  order: { version: number; arrivals: number; held: number; halted: boolean },
  history: readonly HistoryRow[],
  news: readonly number[],
): readonly AuditDifference[] {
  const versions = history.flatMap(({ version }) => version ?? []).toSorted((left, right) => left - right);
  const firstGap = versions.findIndex((version, index) => version !== index + 1);
  const arrivalGap = history.findIndex(({ arrival }, index) => arrival !== index + 1);
  const blocked = history.some(({ outcome, reason }) => outcome === "deferred" && reason === "BLOCKED");
  const failed = history.some(({ outcome }) => outcome === "failed");
  return [
    ...unless(firstGap === -1, "order_events.version", versions[firstGap], firstGap + 1),
    ...unless(arrivalGap === -1, "order_events.arrival", history[arrivalGap]?.arrival, arrivalGap + 1),
    ...unless(order.version === versions.length, "orders.version", order.version, versions.length),
    ...unless(order.arrivals === history.length, "orders.arrivals", order.arrivals, history.length),
    ...compared("orders.held", order.held, history.filter(({ outcome }) => outcome === "deferred").length),
    // A failed event alone may stand in an order that goes on: that is what the skip policy does.
    ...unless(order.halted || !blocked, "orders.halted", order.halted, true),
    ...unless(!order.halted || blocked || failed, "orders.halted", order.halted, false),
    ...unless(
      news.every((version) => version <= order.version),
      "outbox.version",
      Math.max(0, ...news),
      order.version,
    ),
  ];
}

function againstHistory(stored: Stored, history: readonly HistoryRow[]): readonly AuditDifference[] {
  const { lcid } = stored.order;
  let state: OrderState;
  try {
    state = fold(lcid, appliedEvents(history));
  } catch (error) {
    return [
      {
        field: "order_events",
        stored: "a history that does not fold",
        folded: error instanceof HistoryError ? error.message : describe(error),
      },
    ];
  }
  const expected = orderRow(state.totals, derive(state), { held: 0, halted: false, arrivals: 0 });
  const ignored: ReadonlySet<keyof OrderRow> = new Set(["held", "halted", "arrivals"]);
  const differences = (Object.keys(expected) as (keyof OrderRow)[])
    .filter((column) => !ignored.has(column))
    .flatMap((column) => compared(`orders.${column}`, stored.order[column], expected[column]));
  const lines = rowsByKey(
    [...state.lines()].map((line) => lineRow(lcid, line)),
    ({ line_id }) => line_id,
  );
  const refs = rowsByKey(
    state.newRefs().map((ref: Ref) => refRow(lcid, ref)),
    nameOfRef,
  );
  return [
    ...differences,
    ...comparedRows(
      "order_lines",
      rowsByKey(stored.lines, ({ line_id }) => line_id),
      lines,
    ),
    ...comparedRows("order_refs", rowsByKey(stored.refs, nameOfRef), refs),
  ];
}

function* appliedEvents(history: readonly HistoryRow[]): Iterable<OrderEvent> {
  const applied = history.filter(({ outcome }) => outcome === "applied");
  for (const row of applied.toSorted((left, right) => (left.version ?? 0) - (right.version ?? 0))) {
    const reading = interpret(row.event as EventEnvelope);
    if (reading.kind !== "known") {
      throw new TypeError(`the event of version ${row.version ?? "?"} cannot be read any more`);
    }
    yield reading.event;
  }
}

function nameOfRef({ kind, ref }: { kind: string; ref: string }): string {
  return `${kind}:${ref}`;
}

function rowsByKey<Row>(rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [keyOf(row), row]));
}

function comparedRows(
  table: string,
  stored: ReadonlyMap<string, object>,
  folded: ReadonlyMap<string, object>,
): readonly AuditDifference[] {
  const keys = new Set([...stored.keys(), ...folded.keys()]);
  return [...keys].flatMap((key) => {
    const [was, is] = [stored.get(key), folded.get(key)] as [
      Record<string, unknown> | undefined,
      Record<string, unknown> | undefined,
    ];
    if (was === undefined || is === undefined) {
      return [
        {
          field: `${table}[${key}]`,
          stored: was === undefined ? "absent" : "present",
          folded: is === undefined ? "absent" : "present",
        },
      ];
    }
    return Object.keys(is).flatMap((column) =>
      compared(`${table}[${key}].${column}`, was[column], is[column]),
    );
  });
}

function compared(field: string, stored: unknown, folded: unknown): readonly AuditDifference[] {
  return unless(sameValue(stored, folded), field, stored, folded);
}

/** jsonb does not keep the order of keys, so objects compare by their sorted text. */
function sameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  return typeof left === "object" && typeof right === "object" && sortedText(left) === sortedText(right);
}

function sortedText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}

function unless(holds: boolean, field: string, stored: unknown, folded: unknown): readonly AuditDifference[] {
  return holds ? [] : [{ field, stored, folded }];
}
