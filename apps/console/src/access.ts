import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Doorkeeper, Person } from "./doorkeeper.ts";
import { isSame } from "./doorkeeper.ts";
import { cameFrom, fieldOf } from "./fields.ts";
import type { OwnOrigin } from "./own-origin.ts";
import { Refusal } from "./refusal.ts";

/** `form` is for strangers who log in: their forms carry a token as well. `board` is for operators, and takes no forms. */
export type Access = "anyone" | "form" | "viewer" | "operator" | "board";

export interface AccessRules {
  readonly doorkeeper: Doorkeeper;
  readonly origin: OwnOrigin;
  readonly isEnding: () => boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null for strangers, who come no further than the door. */
    person: Person | null;
  }
}

/** Asks of every request, whatever it is for, whether it may come in: before its body is read, and before anything is looked up. */
export function guardAccess(app: FastifyInstance, { doorkeeper, origin, isEnding }: AccessRules): void {
  app.decorateRequest("person", null);
  app.addHook("onRequest", async (request, reply) => {
    if (isEnding()) throw new Refusal("CLOSING", "This process is ending. Try again in a moment.");
    if (!origin.isOurHost(request.headers)) {
      throw new Refusal("FORBIDDEN", "This is not the console's address.");
    }
    request.person = doorkeeper.personOf(request.headers);
    const access = accessOf(request);
    if (request.person === null && !isForStrangers(access)) return showDoor(request, reply);
    if (!isAllowed(request.person, access)) {
      throw new Refusal("FORBIDDEN", "Your role may look, and not act.");
    }
    if (isChange(request) && !origin.isOurs(request.headers)) throw foreignForm();
  });
  app.addHook("preHandler", async (request) => {
    const access = accessOf(request);
    // The queues' own pages send JSON, which no foreign page can without being asked for its origin first.
    if (!isChange(request) || access === "board") return;
    const token = fieldOf(request.body, "token") ?? "";
    const isTheirs =
      access === "form"
        ? doorkeeper.isStrangersForm(request.headers, token)
        : request.person !== null && isSame(token, request.person.formToken);
    if (!isTheirs) throw foreignForm();
  });
}

/** Whoever it is that asks; a route that strangers reach has none. */
export function personOf({ person }: FastifyRequest): Person {
  if (person === null) throw new Refusal("UNAUTHENTICATED", "Log in first.");
  return person;
}

/** Strangers are sent to the door and back again, where that makes sense. */
export function showDoor(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(request.headers.accept ?? "").includes("text/html")) {
    return reply.code(401).type("text/plain; charset=utf-8").send("log in first\n");
  }
  // Nothing is done after a login that was asked for before it: whoever acts sees the page once more.
  const query = isChange(request)
    ? new URLSearchParams({ undone: "", next: cameFrom(request) ?? "/" })
    : new URLSearchParams(request.url === "/" ? {} : { next: request.url });
  return reply.redirect(query.size === 0 ? "/login" : `/login?${query.toString()}`, 303);
}

function accessOf({ routeOptions }: FastifyRequest): Access {
  // Also where there is nothing: a stranger is not told what there is.
  return routeOptions.config?.access ?? "viewer";
}

function isForStrangers(access: Access): boolean {
  return access === "anyone" || access === "form";
}

function isAllowed(person: Person | null, access: Access): boolean {
  return access === "operator" || access === "board" ? person?.role === "operator" : true;
}

function isChange({ method }: FastifyRequest): boolean {
  return method !== "GET" && method !== "HEAD";
}

function foreignForm(): Refusal {
  return new Refusal(
    "FOREIGN_FORM",
    "This form is not one of the console's, or too old. Load the page again.",
  );
}
