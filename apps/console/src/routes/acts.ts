import {
  acknowledgeAct,
  acknowledgeDead,
  counted,
  dropAct,
  dropDead,
  freedSays,
  freeLane,
  freeLaneAct,
  giveBackAct,
  replayAct,
  replayDead,
} from "@junban/operations";
import type { DeadAddress, FailedActOptions, OperatorOutcome } from "@junban/operations";
import type { NewAction } from "@junban/order-store";
import { FAMILIES } from "@junban/orders";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { personOf } from "../access.ts";
import { fieldOf, isOrderName, localPath, neededOf } from "../fields.ts";
import { LONGEST_REASON } from "../pages/act-forms.ts";
import { orderPath } from "../pages/links.ts";
import { Refusal } from "../refusal.ts";
import type { ConsoleServerOptions } from "../server.ts";

type Options = Pick<ConsoleServerOptions, "fleet" | "actions">;

const OPERATORS_ONLY = { config: { access: "operator" } } as const;

/** What operators do. Each is noted with who and what for, done in the order's lane, and told on the page it came from. */
export function addActRoutes(app: FastifyInstance, { fleet, actions }: Options): void {
  const carryOut = async (
    { request, reply, back }: { request: FastifyRequest; reply: FastifyReply; back: string },
    action: Omit<NewAction, "who">,
    work: () => Promise<string>,
    options: FailedActOptions = {},
  ): Promise<FastifyReply> => {
    const id = await actions.carryOut({ ...action, who: personOf(request).name }, work, options);
    const path = new URL(back, "http://console");
    path.searchParams.set("told", String(id));
    return reply.redirect(`${path.pathname}${path.search}`, 303);
  };
  app.post("/acts/replay", OPERATORS_ONLY, async (request, reply) => {
    const address = addressOf(request);
    return carryOut(
      { request, reply, back: backOf(request, "/dead") },
      replayAct(address),
      async () => outcomeWords(await replayDead(fleet, address), "It is back in its queue."),
      { inRedis: address.kind === "job" },
    );
  });
  app.post("/acts/drop", OPERATORS_ONLY, async (request, reply) => {
    const address = addressOf(request);
    const reason = reasonOf(request);
    return carryOut(
      { request, reply, back: backOf(request, "/dead") },
      dropAct(address, { reason }),
      async () => outcomeWords(await dropDead(fleet, address, { reason }), "It was deleted."),
      { inRedis: address.kind === "job" },
    );
  });
  app.post("/acts/acknowledge", OPERATORS_ONLY, async (request, reply) => {
    const event = eventOf(request);
    const reason = reasonOf(request);
    return carryOut(
      { request, reply, back: backOf(request, "/dead?outcome=alerts") },
      acknowledgeAct(event, { reason }),
      async () => outcomeWords(await acknowledgeDead(fleet, event, { reason }), ""),
    );
  });
  app.post("/acts/free-lane", OPERATORS_ONLY, async (request, reply) => {
    const lane = heldLaneOf(request);
    return carryOut(
      { request, reply, back: orderPath(lane.lcid) },
      freeLaneAct(lane),
      // Only the holder that was shown: whoever came since keeps the lane.
      async () => freedSays(await freeLane(fleet.lanes, lane)),
      { inRedis: true },
    );
  });
  app.post("/acts/give-back", OPERATORS_ONLY, async (request, reply) => {
    const text = neededOf(fieldOf(request.body, "id"), "the number");
    if (!/^\d{1,15}$/.test(text)) throw new Refusal("MALFORMED", "That is no number.");
    return carryOut({ request, reply, back: "/parked" }, giveBackAct([Number(text)]), async () => {
      const { back, standing } = await fleet.store.putBackParked([Number(text)]);
      if (back.length > 0) return "The relay has it again.";
      return standing.length > 0
        ? "The outbox holds this version already, so it stays parked until the relay has passed that one on."
        : "It was not parked any more.";
    });
  });
}

function heldLaneOf({ body }: FastifyRequest): { readonly lcid: string; readonly holder: string } {
  const lcid = neededOf(fieldOf(body, "lcid"), "the order's name");
  if (!isOrderName(lcid)) throw new Refusal("NOT_FOUND", "No order can have that name.");
  return { lcid, holder: neededOf(fieldOf(body, "holder"), "the holder") };
}

function eventOf({ body }: FastifyRequest): Extract<DeadAddress, { kind: "event" }> {
  const source = neededOf(fieldOf(body, "source"), "the source");
  return { kind: "event", source, id: neededOf(fieldOf(body, "id"), "the id") };
}

function addressOf(request: FastifyRequest): DeadAddress {
  const name = fieldOf(request.body, "family");
  if (name === null) return eventOf(request);
  const id = neededOf(fieldOf(request.body, "id"), "the id");
  const family = FAMILIES.find((known) => known === name);
  if (family === undefined) throw new Refusal("MALFORMED", "There is no such family.");
  return { kind: "job", family, id };
}

function reasonOf({ body }: FastifyRequest): string {
  const reason = neededOf(fieldOf(body, "reason"), "the reason").trim();
  if (reason.length > 0 && reason.length <= LONGEST_REASON) return reason;
  throw new Refusal("MALFORMED", `A reason has 1 to ${LONGEST_REASON} characters.`);
}

function backOf({ body }: FastifyRequest, fallback: string): string {
  const path = localPath(fieldOf(body, "back"));
  return path === "/" ? fallback : path;
}

function outcomeWords(outcome: OperatorOutcome, ofJob: string): string {
  if (outcome.kind === "job") return ofJob;
  if (outcome.acknowledged) return "The alert is acknowledged.";
  const { outcome: became, reason, version, released, halted, lcid } = outcome;
  const parts = [
    `${became}${reason === null ? "" : ` ${reason}`}${version === null ? "" : `, version ${version} of ${lcid}`}`,
    ...(released > 0
      ? [`${counted(released, "blocked event was", "blocked events were")} decided after it`]
      : []),
    ...(halted ? ["the order still stands behind another failed event"] : []),
  ];
  return `${parts.join("; ")}.`;
}
