import { QueueUnavailableError } from "@junban/event-queues";
import { LaneUnavailableError } from "@junban/handoff-lock";
import { OrderStoreError } from "@junban/order-store";
import type { Logger } from "@junban/service";
import type { FastifyReply, FastifyRequest } from "fastify";
import { showDoor } from "./access.ts";
import { cameFrom } from "./fields.ts";
import { troublePage } from "./pages/trouble.ts";
import { readerOf } from "./reader.ts";
import { Refusal } from "./refusal.ts";

export interface Trouble {
  readonly error: Error;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Answers a request that met an error, in words that hold nothing of what was sent or stored. */
export function answerTrouble(
  { logger }: { readonly logger: Pick<Logger, "error"> },
  { error, request, reply }: Trouble,
): FastifyReply {
  const refusal = refusalOf(error);
  if (refusal === null) logger.error({ err: error }, "a request met a fault of ours");
  if (refusal?.code === "UNAUTHENTICATED") return showDoor(request, reply);
  const status = refusal?.status ?? 500;
  const message = refusal?.message ?? "The log of the console says more.";
  const reader = request.person === null || request.person === undefined ? null : readerOf(request.person);
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .send(troublePage({ status, message, back: cameFrom(request) }, reader).toString());
}

/** What a request ran into, in words for people; null when it is a fault of ours. */
export function refusalOf(error: Error): Refusal | null {
  if (error instanceof Refusal) return error;
  const away = awayOf(error);
  if (away !== null) return new Refusal("SERVICE_AWAY", away);
  const status: unknown = Reflect.get(error, "statusCode");
  if (status === 404) return new Refusal("NOT_FOUND", "There is nothing at this address.");
  return typeof status === "number" && status < 500
    ? new Refusal("MALFORMED", "The request cannot be read.")
    : null;
}

/** Which service is away, in a sentence; null when it is something else. */
function awayOf(error: unknown): string | null {
  if (error instanceof QueueUnavailableError || error instanceof LaneUnavailableError) {
    return "Redis does not answer.";
  }
  if (error instanceof OrderStoreError) {
    // With one that does not answer all connections wait, too.
    if (error.code === "POOL_BUSY") return "Postgres does not answer, or is asked too much at once.";
    if (error.code === "CONNECTION_LOST" || error.code === "TRIP_TIMEOUT") return "Postgres does not answer.";
  }
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  // What a server says that is going down or coming up (class 57, 53), or that took too long.
  return typeof code === "string" && /^(?:57|53|08)[0-9A-Z]{3}$/.test(code)
    ? "Postgres cannot answer at present."
    : null;
}
