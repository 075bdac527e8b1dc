import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FastifyAdapter } from "@bull-board/fastify";
import { answerTo } from "@junban/operations";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { personOf } from "../access.ts";
import { Refusal } from "../refusal.ts";
import { refusalOf } from "../server-errors.ts";
import type { ConsoleServerOptions } from "../server.ts";

type Options = Pick<ConsoleServerOptions, "fleet" | "rawQueues" | "actions" | "logger">;

/** Bull Board twice: for operators as it is, for viewers without a button, and neither reaches further than its reader. */
const BOARDS = "/queues";
const LOOKING = "/queues/look";
const ACTING = "/queues/act";

/**
 * Its pages set styles on elements and name their own base; scripts come from here alone, as everywhere. The font that it would
 * fetch from elsewhere stays out.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join("; ");
const FOREIGN_FONT = /<link href="https:\/\/fonts\.[^>]*>/g;

export async function addQueueRoutes(app: FastifyInstance, options: Options): Promise<void> {
  app.get(BOARDS, async (request, reply) => {
    await options.fleet.queues.paused();
    return reply.redirect(personOf(request).role === "operator" ? ACTING : LOOKING, 303);
  });
  await app.register(async (scope) => addBoard(scope, { ...options, path: LOOKING, isReadOnly: true }));
  await app.register(async (scope) => addBoard(scope, { ...options, path: ACTING, isReadOnly: false }));
}

interface Board extends Options {
  readonly path: string;
  readonly isReadOnly: boolean;
}

async function addBoard(
  scope: FastifyInstance,
  { path, isReadOnly, fleet, rawQueues, actions, logger }: Board,
): Promise<void> {
  scope.addHook("onRoute", (route) => {
    const isLook = [route.method].flat().every((method) => method === "GET" || method === "HEAD");
    // Also where a button is hidden: what a page does not offer can be asked for all the same.
    const access = isReadOnly && isLook ? "viewer" : "board";
    route.config = { ...route.config, access };
  });
  scope.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    try {
      done(null, body === "" ? {} : JSON.parse(String(body)));
    } catch {
      done(new Refusal("MALFORMED", "That is no JSON."));
    }
  });
  noteChanges(scope, actions);
  scope.addHook("preHandler", async ({ headers }, reply) => {
    const isPage = (headers.accept ?? "").includes("text/html");
    // Without Redis its page would say that there are no queues.
    if (isPage && (await answerTo(() => fleet.queues.paused())).kind === "unknown") {
      return reply.redirect(BOARDS, 303);
    }
  });
  scope.addHook("onSend", async (_request, reply, payload) => {
    reply.raw.setHeader("content-security-policy", POLICY);
    return typeof payload === "string" ? payload.replaceAll(FOREIGN_FONT, "") : payload;
  });
  const adapter = new FastifyAdapter();
  adapter.setBasePath(path);
  createBullBoard({
    queues: rawQueues.queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: isReadOnly })),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: "Junban queues",
        miscLinks: [{ text: "Console", url: "/" }],
        hideRedisDetails: true,
      },
    },
  });
  adapter.setErrorHandler((error) => {
    const refusal = refusalOf(error);
    if (refusal === null) logger.warn({ error }, "the raw queues could not be asked");
    const message = refusal?.message ?? "Redis does not answer, or refuses this.";
    // Bull Board's types know of no other status than 500; it sends whichever it is given.
    return { status: (refusal?.status ?? 503) as 500, body: { error: message } };
  });
  await scope.register(adapter.registerPlugin(), { prefix: path });
}

/** What is done to the raw queues is noted like everything else, by the address that was called. */
function noteChanges(scope: FastifyInstance, actions: Options["actions"]): void {
  const noted = new WeakMap<FastifyRequest, { id: number; who: string; act: string; target: string }>();
  scope.addHook("preHandler", async (request) => {
    if (request.method === "GET" || request.method === "HEAD") return;
    const action = {
      who: personOf(request).name,
      act: "change queues",
      target: `${request.method} ${request.url}`,
    };
    noted.set(request, { id: await actions.begin(action), ...action });
  });
  scope.addHook("onResponse", async (request, reply) => {
    const begun = noted.get(request);
    if (begun === undefined) return;
    const { id, ...action } = begun;
    const result = reply.statusCode < 400 ? "done" : "failed";
    await actions.end(id, action, { result, detail: `status ${reply.statusCode}` });
  });
}
