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
    const query = neededOf(queryOf(request, "q"), "a name to look for").trim();
    const source = queryOf(request, "source");
    const [order, events, line] = await Promise.all([
      source === null ? fleet.store.readOrder(query) : null,
      source === null ? eventsNamed(fleet, query) : eventOf(fleet, { source, id: query }),
      source === null ? standsInLine(fleet, query) : NOT_IN_LINE,
    ]);
    // Before its first event is decided an order is nothing but a line.
    const isThere = order !== null || (line.kind === "known" && line.value);
    const [first, ...others] = events;
    if (isThere && first === undefined) return reply.redirect(orderPath(query), 303);
    if (!isThere && first !== undefined && others.length === 0) {
      return reply.redirect(eventPath(first), 303);
    }
    if (!isThere && first === undefined) void reply.code(404);
    const found = {
      query,
      source: source ?? "",
      order: isThere ? query : null,
      isLineKnown: line.kind === "known",
      events: listed(events),
    };
    return sendPage(reply, searchPage(found, readerOf(personOf(request))));
  });
}

const NOT_IN_LINE: Answer<boolean> = { kind: "known", value: false };

async function standsInLine({ lanes }: Pick<Fleet, "lanes">, lcid: string): Promise<Answer<boolean>> {
  if (!isOrderName(lcid)) return NOT_IN_LINE;
  return answerTo(async () => {
    const { depth, holder } = await readLane(lanes, { lcid, limit: 1 });
    return depth > 0 || holder !== null;
  });
}

/** By the id alone, or as the pages and the record write an event: its source, a space, its id. */
async function eventsNamed(fleet: Pick<Fleet, "store">, query: string): Promise<readonly EventReport[]> {
  const [, source, id] = /^(\S+)\s+(\S.*)$/.exec(query) ?? [];
  const [byId, exact] = await Promise.all([
    fleet.store.findEvents({ id: query, limit: LIST_SIZE + 1 }),
    source === undefined || id === undefined ? [] : eventOf(fleet, { source, id }),
  ]);
  return [...exact, ...byId];
}

async function eventOf(
  { store }: Pick<Fleet, "store">,
  identity: { readonly source: string; readonly id: string },
): Promise<readonly EventReport[]> {
  const event = await store.readEvent(identity);
  return event === null ? [] : [event];
}
