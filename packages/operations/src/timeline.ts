import type { EventReport } from "@junban/order-store";
import {
  derive,
  fold,
  HistoryError,
  interpret,
  type Line,
  type OrderEvent,
  type OrderState,
} from "@junban/orders";
import { changesBetween, type Change, type Moment } from "./changes.ts";
import type { Fleet } from "./fleet.ts";

/** One event of an order's history, and what it did. */
export interface TimelineEntry {
  readonly event: EventReport;
  /** Empty for an event that was not applied, and where the history could not be folded that far. */
  readonly changes: readonly Change[];
}

/** A page of an order's history, by arrival. */
export interface Timeline {
  readonly entries: readonly TimelineEntry[];
  readonly total: number;
  /** Counted from 1; the last page holds the newest events. */
  readonly page: number;
  readonly pages: number;
  /** Where the applied events do not follow from one another, in words; null when they do. */
  readonly broken: string | null;
}

export interface TimelineOptions {
  readonly lcid: string;
  /** Counted from 1; default the last one. One that does not exist becomes the nearest that does. */
  readonly page?: number;
  /** Events on a page; default 50. */
  readonly size?: number;
}

/**
 * Folds the history up to the page that is asked for, as an audit does, and compares the order before and after each of its events.
 * The whole history is read: 10,000 events take about as long as a page takes to be looked at.
 */
export async function readTimeline(
  { store }: Pick<Fleet, "store">,
  { lcid, page, size = 50 }: TimelineOptions,
): Promise<Timeline> {
  const history = await store.readHistory(lcid);
  const pages = Math.max(1, Math.ceil(history.length / size));
  const shown = Math.min(Math.max(1, page ?? pages), pages);
  const events = history.slice((shown - 1) * size, shown * size);
  const wanted = new Set(events.flatMap(({ version }) => version ?? []));
  const { changes, broken } = foldedChanges(lcid, history, wanted);
  return {
    entries: events.map((event) => ({
      event,
      changes: (event.version === null ? undefined : changes.get(event.version)) ?? [],
    })),
    total: history.length,
    page: shown,
    pages,
    broken,
  };
}

/** What each of the wanted versions changed. */
function foldedChanges(
  lcid: string,
  history: readonly EventReport[],
  wanted: ReadonlySet<number>,
): { changes: ReadonlyMap<number, readonly Change[]>; broken: string | null } {
  const applied = history
    .filter(({ version }) => version !== null)
    .toSorted((left, right) => (left.version ?? 0) - (right.version ?? 0));
  const changes = new Map<number, readonly Change[]>();
  const last = Math.max(0, ...wanted);
  let before: Moment | null = null;
  try {
    fold(lcid, known(applied.slice(0, last)), (state) => {
      const { version } = state.totals;
      const isWanted = wanted.has(version);
      // Reading an order off costs more than deciding an event: only those are read that somebody will see.
      if (!isWanted && !wanted.has(version + 1)) {
        before = null;
        return;
      }
      const after = momentOf(state);
      if (isWanted) changes.set(version, changesBetween(before, after));
      before = after;
    });
  } catch (error) {
    if (!(error instanceof HistoryError || error instanceof UnknownEventError)) throw error;
    return { changes, broken: error.message };
  }
  return { changes, broken: null };
}

/** An applied event that this build cannot read, so that nothing behind it can be folded. */
class UnknownEventError extends Error {
  readonly code = "UNKNOWN_EVENT";

  constructor({ source, id }: { readonly source: string; readonly id: string }) {
    super(`the applied event ${id} of ${source} cannot be read by this build`);
    this.name = "UnknownEventError";
  }
}

function* known(applied: readonly EventReport[]): Iterable<OrderEvent> {
  for (const { source, id, event } of applied) {
    const reading = event === null ? null : interpret(event);
    if (reading?.kind !== "known") throw new UnknownEventError({ source, id });
    yield reading.event;
  }
}

function momentOf(state: OrderState): Moment {
  const lines: ReadonlyMap<string, Line> = new Map([...state.lines()].map((line) => [line.lineId, line]));
  return { totals: state.totals, derived: derive(state), lines };
}
