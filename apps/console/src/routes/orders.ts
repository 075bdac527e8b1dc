import { readLane, answerTo, readTimeline } from "@junban/operations";
import type { FastifyInstance } from "fastify";
import { personOf } from "../access.ts";
import { isOrderName, neededOf, numberOf, queryOf } from "../fields.ts";
import { eventPage } from "../pages/event.ts";
import { LINE_SHOWN } from "../pages/lane.ts";
import { orderPage } from "../pages/order.ts";
import { readerOf } from "../reader.ts";
import { Refusal } from "../refusal.ts";
import type { ConsoleServerOptions } from "../server.ts";
import { noticeOf } from "./notice.ts";
import { sendPage } from "./send-page.ts";

const FAILED_SHOWN = 20;
const NO_EVENT = "No event of that source and id has been decided, or its order was purged.";

export function addOrderRoutes(app: FastifyInstance, { fleet }: Pick<ConsoleServerOptions, "fleet">): void {
  const { store, lanes } = fleet;
  app.get("/order", async (request, reply) => {
    const lcid = neededOf(queryOf(request, "lcid"), "the order's name");
    if (!isOrderName(lcid)) throw new Refusal("NOT_FOUND", "No order can have that name.");
    const page = numberOf(request, "page");
    const [order, purged, timeline, lane, failed, notice] = await Promise.all([
      answerTo(() => store.readOrder(lcid)),
      answerTo(() => store.readPurged([lcid])),
      answerTo(() => readTimeline(fleet, { lcid, ...(page === null ? {} : { page }) })),
      answerTo(() => readLane(lanes, { lcid, limit: LINE_SHOWN })),
      answerTo(() => store.listDead({ lcid, outcome: "failed", limit: FAILED_SHOWN })),
      noticeOf(store, request),
    ]);
    const reader = readerOf(personOf(request));
    const letters = failed.kind === "known" ? failed.value : [];
    const [tomb = null] = purged.kind === "known" ? purged.value : [];
    const isEmpty = lane.kind === "known" && lane.value.depth === 0 && tomb === null;
    if (order.kind === "known" && order.value === null && isEmpty) void reply.code(404);
    return sendPage(
      reply,
      orderPage({
        lcid,
        order,
        purged: tomb,
        timeline,
        lane,
        failed: letters,
        reader,
        notice,
        nowMs: Date.now(),
      }),
    );
  });
  app.get("/event", async (request, reply) => {
    const source = neededOf(queryOf(request, "source"), "the source");
    const id = neededOf(queryOf(request, "id"), "the id");
    const [event, notice] = await Promise.all([store.readEvent({ source, id }), noticeOf(store, request)]);
    if (event === null) throw new Refusal("NOT_FOUND", NO_EVENT);
    return sendPage(reply, eventPage(event, { reader: readerOf(personOf(request)), notice }));
  });
}
