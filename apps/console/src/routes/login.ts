import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { personOf } from "../access.ts";
import { fieldOf, localPath, queryOf } from "../fields.ts";
import type { LoginAnswer } from "../login-desk.ts";
import { loginPage } from "../pages/login.ts";
import type { ConsoleServerOptions } from "../server.ts";
import { duration } from "../words.ts";

type Options = Pick<ConsoleServerOptions, "doorkeeper" | "loginDesk" | "logger">;

export function addLoginRoutes(app: FastifyInstance, options: Options): void {
  const { doorkeeper, loginDesk, logger } = options;
  app.get("/login", { config: { access: "anyone" } }, async (request, reply) => {
    const next = localPath(queryOf(request, "next"));
    if (request.person !== null) return reply.redirect(next, 303);
    const isUndone = new URL(request.url, "http://console").searchParams.has("undone");
    return showLogin(options, { request, reply, next, trouble: isUndone ? UNDONE : null });
  });
  app.post("/login", { config: { access: "form" } }, async (request, reply) => {
    const next = localPath(fieldOf(request.body, "next"));
    const name = fieldOf(request.body, "name") ?? "";
    const password = fieldOf(request.body, "password") ?? "";
    const answer = await loginDesk.ask({ name, password, address: request.ip });
    if (answer.kind !== "known") {
      // Only a name that is known: people type passwords into the wrong field.
      const user = loginDesk.knows(name) ? name : null;
      logger.warn({ user, from: request.ip, answer: answer.kind }, "somebody could not log in");
      if (answer.kind === "later") void reply.header("retry-after", Math.ceil(answer.afterMs / 1_000));
      void reply.code(answer.kind === "later" ? 429 : 403);
      return showLogin(options, { request, reply, next, name, trouble: wordsOf(answer) });
    }
    logger.info({ user: answer.name, role: answer.role, from: request.ip }, "somebody logged in");
    return reply.header("set-cookie", doorkeeper.sessionCookie(request.headers, answer)).redirect(next, 303);
  });
  app.post("/logout", async (request, reply) => {
    const person = personOf(request);
    logger.info({ user: person.name }, "somebody logged out");
    return reply.header("set-cookie", doorkeeper.endSession(request.headers, person)).redirect("/login", 303);
  });
}

const UNDONE = "You were logged in no more, so nothing was done. Log in and do it again.";

interface Showing {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly next: string;
  readonly name?: string;
  readonly trouble: string | null;
}

function showLogin(
  { doorkeeper, loginDesk }: Options,
  { request, reply, next, name = "", trouble }: Showing,
): FastifyReply {
  const { formToken, setCookie } = doorkeeper.strangerToken(request.headers);
  if (setCookie !== null) void reply.header("set-cookie", setCookie);
  const page = loginPage({ formToken, next, name, trouble, hasUsers: loginDesk.hasUsers });
  return reply.type("text/html; charset=utf-8").send(page.toString());
}

function wordsOf(answer: Exclude<LoginAnswer, { kind: "known" }>): string {
  if (answer.kind === "later") return `Too many attempts. Try again in ${duration(answer.afterMs)}.`;
  return "The name or the password is wrong.";
}
