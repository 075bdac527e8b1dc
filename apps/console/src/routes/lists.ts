import type { FastifyInstance, FastifyRequest } from "fastify";
import { personOf } from "../access.ts";
import { numberOf, queryOf } from "../fields.ts";
import { actionsPage } from "../pages/actions.ts";
import { deadPage } from "../pages/dead.ts";
import type { DeadKind, DeadList } from "../pages/dead.ts";
import { haltedPage } from "../pages/halted.ts";
import { heldPage } from "../pages/held.ts";
import { parkedPage } from "../pages/parked.ts";
import { reasonsPage } from "../pages/reasons.ts";
import { readerOf } from "../reader.ts";
import type { ConsoleServerOptions } from "../server.ts";
import { listed, LIST_SIZE } from "./listed.ts";
import { noticeOf } from "./notice.ts";
import { sendPage } from "./send-page.ts";

type Options = Pick<ConsoleServerOptions, "fleet">;

const WITHIN_MS: ReadonlyMap<string, number> = new Map([
  ["2h", 7_200_000],
  ["24h", 86_400_000],
]);

export function addListRoutes(app: FastifyInstance, options: Options): void {
  const { store } = options.fleet;
  app.get("/held", async (request, reply) => {
    const within = queryOf(request, "within") ?? "";
    const dueWithinMs = WITHIN_MS.get(within);
    const [held, notice] = await Promise.all([
      store.listHeld({ ...(dueWithinMs === undefined ? {} : { dueWithinMs }), limit: LIST_SIZE + 1 }),
      noticeOf(store, request),
    ]);
    const reader = readerOf(personOf(request));
    return sendPage(
      reply,
      heldPage(listed(held), { reader, notice, within, back: pathOf(request), nowMs: Date.now() }),
    );
  });
  app.get("/dead", async (request, reply) => {
    const reason = queryOf(request, "reason") ?? "";
    const [list, notice] = await Promise.all([
      deadList(options, kindOf(queryOf(request, "outcome")), { reason, before: numberOf(request, "before") }),
      noticeOf(store, request),
    ]);
    const reader = readerOf(personOf(request));
    return sendPage(reply, deadPage(list, { reader, notice, reason, back: pathOf(request) }));
  });
  app.get("/halted", async (request, reply) => {
    const [halted, notice] = await Promise.all([
      store.listHalted({ after: queryOf(request, "after") ?? "", limit: LIST_SIZE + 1 }),
      noticeOf(store, request),
    ]);
    return sendPage(
      reply,
      haltedPage(listed(halted), { reader: readerOf(personOf(request)), notice, back: pathOf(request) }),
    );
  });
  app.get("/parked", async (request, reply) => {
    const [parked, waiting, notice] = await Promise.all([
      store.listParked({ after: numberOf(request, "after") ?? 0, limit: LIST_SIZE + 1 }),
      store.gauges(),
      noticeOf(store, request),
    ]);
    const reader = readerOf(personOf(request));
    return sendPage(reply, parkedPage(listed(parked), { reader, notice, waiting }));
  });
  app.get("/reasons", async (request, reply) => sendPage(reply, reasonsPage(readerOf(personOf(request)))));
  app.get("/actions", async (request, reply) => {
    const before = numberOf(request, "before");
    const actions = await store.listActions({ ...(before === null ? {} : { before }), limit: LIST_SIZE + 1 });
    return sendPage(reply, actionsPage(listed(actions), { reader: readerOf(personOf(request)), before }));
  });
}

async function deadList(
  { fleet }: Options,
  kind: DeadKind,
  { reason, before }: { readonly reason: string; readonly before: number | null },
): Promise<DeadList> {
  const limit = LIST_SIZE + 1;
  if (kind === "jobs") return { kind, jobs: listed(await fleet.queues.deadJobs(limit)) };
  const letters = await fleet.store.listDead({
    limit,
    outcome: kind === "alerts" ? "alerting" : kind,
    ...(before === null ? {} : { before }),
    // Every reason is in capitals, however somebody types it.
    ...(reason === "" ? {} : { reason: reason.trim().toUpperCase() }),
  });
  return { kind, letters: listed(letters) };
}

const KINDS: readonly DeadKind[] = ["failed", "alerts", "rejected", "jobs"];

function kindOf(outcome: string | null): DeadKind {
  return KINDS.find((kind) => kind === outcome) ?? "failed";
}

/** The page that was asked for, without what it was to tell. */
function pathOf({ url }: FastifyRequest): string {
  const { pathname, searchParams } = new URL(url, "http://console");
  searchParams.delete("told");
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`;
}
