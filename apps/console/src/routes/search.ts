import { answerTo, readLane } from "@junban/operations";
import type { Answer, Fleet } from "@junban/operations";
import type { EventReport } from "@junban/order-store";
import type { FastifyInstance } from "fastify";
import { personOf } from "../access.ts";
import { isOrderName, neededOf, queryOf } from "../fields.ts";
import { eventPath, orderPath } from "../pages/links.ts";
import { searchPage } from "../pages/search.ts";
import { readerOf } from "../reader.ts";
import type { ConsoleServerOptions } from "../server.ts";
import { listed, LIST_SIZE } from "./listed.ts";
import { sendPage } from "./send-page.ts";

/** One field for both, because people paste what they have. What is found alone is shown at once. */
export function addSearchRoutes(app: FastifyInstance, { fleet }: Pick<ConsoleServerOptions, "fleet">): void {
  app.get("/search", async (request, reply) => {
    const typed = neededOf(queryOf(request, "q"), "a name to look for");
    const source = queryOf(request, "source");
    const asTyped = await find(fleet, { query: typed, source });
    // Blanks may be part of an id, and mostly came along with it.
    const query = isNothing(asTyped) ? typed.trim().replaceAll(/\s+/g, " ") : typed;
    const found = query === typed ? asTyped : await find(fleet, { query, source });
    const [first, ...others] = found.events;
    if (found.isOrder && first === undefined) return reply.redirect(orderPath(query), 303);
    if (!found.isOrder && first !== undefined && others.length === 0) {
      return reply.redirect(eventPath(first), 303);
    }
    if (isNothing(found)) void reply.code(404);
    const shown = {
      query,
      source: source ?? "",
      order: found.isOrder ? query : null,
      isLineKnown: found.isLineKnown,
      events: listed(found.events),
    };
    return sendPage(reply, searchPage(shown, readerOf(personOf(request))));
  });
}

interface Finding {
  readonly isOrder: boolean;
  /** False when Redis could not be asked for the order's line. */
  readonly isLineKnown: boolean;
  readonly events: readonly EventReport[];
}

function isNothing({ isOrder, events }: Finding): boolean {
  return !isOrder && events.length === 0;
}

async function find(
  fleet: Fleet,
  { query, source }: { readonly query: string; readonly source: string | null },
): Promise<Finding> {
  if (source !== null) {
    return { isOrder: false, isLineKnown: true, events: await eventOf(fleet, { source, id: query }) };
  }
  const [order, purged, events, line] = await Promise.all([
    fleet.store.readOrder(query),
    fleet.store.readPurged([query]),
    eventsNamed(fleet, query),
    standsInLine(fleet, query),
  ]);
  // Before its first event is decided an order is nothing but a line, and after its purge nothing but a name.
  const isOrder = order !== null || purged.length > 0 || (line.kind === "known" && line.value);
  return { isOrder, isLineKnown: line.kind === "known", events };
}

async function standsInLine({ lanes }: Pick<Fleet, "lanes">, lcid: string): Promise<Answer<boolean>> {
  if (!isOrderName(lcid)) return { kind: "known", value: false };
  return answerTo(async () => {
    const { depth, holder } = await readLane(lanes, { lcid, limit: 1 });
    return depth > 0 || holder !== null;
  });
}

/** By the id alone, or with its source: in front of it as the record writes an event, or behind it as pages do. */
async function eventsNamed(fleet: Pick<Fleet, "store">, query: string): Promise<readonly EventReport[]> {
  const [, front = "", behind = ""] = /^(\S+)\s(.+)$/.exec(query) ?? [];
  const [, start = "", end = ""] = /^(.+)\s(\S+)$/.exec(query) ?? [];
  const found = await Promise.all([
    eventOf(fleet, { source: front, id: behind }),
    eventOf(fleet, { source: end, id: start }),
    fleet.store.findEvents({ id: query, limit: LIST_SIZE + 1 }),
  ]);
  return found.flat();
}

async function eventOf(
  { store }: Pick<Fleet, "store">,
  { source, id }: { readonly source: string; readonly id: string },
): Promise<readonly EventReport[]> {
  const event = source === "" || id === "" ? null : await store.readEvent({ source, id });
  return event === null ? [] : [event];
}
