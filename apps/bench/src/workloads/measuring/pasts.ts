import { hotStory } from "@junban/order-stories";
import type { EventEnvelope } from "@junban/orders";
import { whole } from "../../report/figures.ts";
import type { HistoryRow } from "../../results.ts";
import type { OrderPast } from "./past.ts";

/** Orders with a past, and what is published on them then. */
export interface Past {
  readonly arm: HistoryRow["arm"];
  readonly name: string;
  /** Rows of the inbox in all. */
  readonly rows: number;
  readonly orders: readonly OrderPast[];
  /** Further events before anything is measured. */
  readonly touching: readonly EventEnvelope[];
  readonly further: readonly EventEnvelope[];
}

export interface PastsOptions {
  readonly order: { readonly short: number; readonly long: number };
  readonly inbox: { readonly short: number; readonly long: number };
  readonly open: { readonly short: number; readonly long: number };
  /** Further events to measure. */
  readonly events: number;
  readonly seed: number;
}

const LCID = "PAST-1";
/** The order with few events must be read once, and its worker's own figures about it made. */
const TOUCHING = 100;

/** Of each arm the short past, then the long one. */
export function pastsOf(options: PastsOptions): readonly Past[] {
  const { order, events, seed } = options;
  const story = hotStory({ lcid: LCID, events: order.long + TOUCHING + events, seed });
  const orders = [order.short, order.long].map((length): Past => {
    const behind = length + TOUCHING;
    return {
      arm: "order",
      name: `an order of ${whole(length)} events`,
      rows: length,
      orders: [{ lcid: LCID, events: () => story.slice(0, length) }],
      touching: story.slice(length, behind),
      further: story.slice(behind, behind + events),
    };
  });
  return [...orders, ...inboxPasts(options), ...openPasts(options)];
}

interface Crowd {
  readonly stories: readonly (readonly EventEnvelope[])[];
  /** One event of each story, then the next of each. */
  readonly further: readonly EventEnvelope[];
}

/** So many orders that are all alike, and further events enough to touch each of them and to measure. */
function crowdOf(name: string, count: number, { events, seed }: PastsOptions): Crowd {
  const length = 2 + Math.ceil(events / count);
  const stories = Array.from({ length: count }, (_, index) =>
    hotStory({ lcid: `${name}-${index + 1}`, events: length, seed }),
  );
  const further = Array.from({ length: length - 1 }, (_, index) =>
    stories.flatMap((story) => story.slice(index + 1, index + 2)),
  ).flat();
  return { stories, further };
}

/** The same orders get the same further events, beside few other open orders and beside many, which wait for their first payment. */
function openPasts(options: PastsOptions): readonly Past[] {
  const { open, events } = options;
  const { stories, further } = crowdOf("OPEN", open.short, options);
  const placed = stories.flatMap(([first]) => first ?? []);
  return [open.short, open.long].map((rows) => ({
    arm: "open",
    name: `${whole(rows)} open orders`,
    rows,
    orders: Array.from({ length: rows }, (_, index) => bystander(placed, index)),
    touching: further.slice(0, open.short),
    further: further.slice(open.short, open.short + events),
  }));
}

/** The order of that number: one of those that are placed here, or another like them. */
function bystander(placed: readonly EventEnvelope[], index: number): OrderPast {
  const first = placed[index];
  if (first !== undefined) return { lcid: first.lcid, events: () => [first] };
  const like = placed[index % placed.length];
  if (like === undefined) throw new RangeError("at least one open order");
  const lcid = `OPEN-${index + 1}`;
  return { lcid, events: () => [{ ...like, lcid, id: `placed-${lcid}` }] };
}

/**
 * Both inboxes belong to the same orders, placed and otherwise as new, and get the same further events: more orders, or longer
 * stories, would be more for the server to read whatever its inbox holds. The rows by which the larger one is larger are line
 * edits that come in pairs, one up and one down: applied like any other, with their references and their news, and the order
 * stands as before.
 */
function inboxPasts(options: PastsOptions): readonly Past[] {
  const { inbox, events } = options;
  const count = inbox.short;
  const { stories, further } = crowdOf("INBOX", count, options);
  return [inbox.short, inbox.long].map((rows) => ({
    arm: "inbox",
    name: `an inbox of ${whole(rows)} rows`,
    rows,
    orders: stories.flatMap(([placed]) =>
      placed === undefined
        ? []
        : [{ lcid: placed.lcid, events: () => [placed, ...editsOf(placed, rows / count - 1)] }],
    ),
    touching: further.slice(0, count),
    further: further.slice(count, count + events),
  }));
}

/** So many edits of the first line of an order that was just placed; an odd one out changes its quantity to what it is. */
function editsOf(placed: EventEnvelope, count: number): readonly EventEnvelope[] {
  const [line] = (placed.data as { lines: readonly { lineId: string; quantity: number }[] }).lines;
  if (line === undefined) throw new RangeError("an order is placed with at least one line");
  const { lineId, quantity } = line;
  return Array.from({ length: count }, (_, index) => {
    const isUp = index % 2 === 0 && index + 1 < count;
    const fromQuantity = index % 2 === 0 ? quantity : quantity + 1;
    const toQuantity = isUp ? quantity + 1 : quantity;
    return {
      ...placed,
      id: `past-${placed.lcid}-${index + 1}`,
      type: "line.quantity_changed",
      data: { changeId: `past-${index + 1}`, lineId, fromQuantity, toQuantity },
    };
  });
}
