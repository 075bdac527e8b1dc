import type { FastifyInstance } from "fastify";
import { personOf } from "../access.ts";
import { neededOf, queryOf } from "../fields.ts";
import { eventPath, orderPath } from "../pages/links.ts";
import { searchPage } from "../pages/search.ts";
import { readerOf } from "../reader.ts";
import type { ConsoleServerOptions } from "../server.ts";
import { listed, LIST_SIZE } from "./listed.ts";
import { sendPage } from "./send-page.ts";

/** One field for both, because people paste what they have. What is found alone is shown at once. */
export function addSearchRoutes(app: FastifyInstance, { fleet }: Pick<ConsoleServerOptions, "fleet">): void {
  const { store } = fleet;
  app.get("/search", async (request, reply) => {
    const query = neededOf(queryOf(request, "q"), "name to look for").trim();
    const source = queryOf(request, "source");
    const [order, events] = await Promise.all([
      source === null ? store.readOrder(query) : null,
      source === null
        ? store.findEvents({ id: query, limit: LIST_SIZE + 1 })
        : store.readEvent({ source, id: query }).then((event) => (event === null ? [] : [event])),
    ]);
    const [first, ...others] = events;
    if (order !== null && first === undefined) return reply.redirect(orderPath(order.lcid), 303);
    if (order === null && first !== undefined && others.length === 0) {
      return reply.redirect(eventPath(first), 303);
    }
    const found = { query, source: source ?? "", order: order?.lcid ?? null, events: listed(events) };
    if (order === null && first === undefined) void reply.code(404);
    return sendPage(reply, searchPage(found, readerOf(personOf(request))));
  });
}
