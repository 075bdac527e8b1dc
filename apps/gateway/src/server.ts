import assert from "node:assert/strict";
import type { Logger } from "@junban/service";
import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GatewayMetrics } from "./gateway-metrics.ts";
import { statusOf } from "./intake.ts";
import type { EventResult, Intake, RefusedEvent } from "./intake.ts";
import type { RateLimit } from "./rate-limit.ts";
import { Refusal } from "./refusal.ts";
import { readEvents } from "./request-events.ts";
import { faultOf, refusalOf, refuseConnection } from "./server-errors.ts";
import type { StripeWebhook } from "./stripe/webhook.ts";
import type { Sender, TokenBook } from "./token-book.ts";

export interface GatewayServerOptions {
  readonly tokens: TokenBook;
  readonly rateLimit: RateLimit;
  readonly intake: Intake;
  /** Null: there is no such address. */
  readonly stripe: StripeWebhook | null;
  readonly metrics: GatewayMetrics;
  readonly logger: Pick<Logger, "error">;
  readonly openapi: string;
  readonly bodyBytes: number;
  readonly mostEvents: number;
  /** How long a request may take to arrive, milliseconds. */
  readonly requestMs: number;
  /** Whether the process is ending: what comes now is refused. */
  readonly isEnding: () => boolean;
}

/** A full line and a Redis that is away both take a moment; nobody knows how long, so the answer is soon and round. */
const RETRY_SECONDS = { 429: 2, 503: 5 } as const;
/** Longer than the minute for which proxies commonly keep theirs, or one of them sends into a connection that is closing. */
const IDLE_CONNECTION_MS = 75_000;
const MOST_CONNECTIONS = 1_024;
const MOST_HEADER_BYTES = 16_384;

/** The server of the gateway: routes, who may, how large and how fast, and the form of every answer. */
export function createGatewayServer(options: GatewayServerOptions): FastifyInstance {
  const { bodyBytes, requestMs, metrics, openapi, isEnding, stripe } = options;
  const app = fastify({
    logger: false,
    bodyLimit: bodyBytes,
    requestTimeout: requestMs,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    // Fastify's own answer while it closes has another form than ours.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => {
      answerError(options, { error, request, reply });
    },
    http: {
      headersTimeout: requestMs,
      // Node looks for requests that are overdue this often.
      connectionsCheckingInterval: Math.min(1_000, requestMs),
      maxHeaderSize: MOST_HEADER_BYTES,
    },
  });
  app.server.maxConnections = MOST_CONNECTIONS;
  // Bodies stay bytes: a signature is made of them, and what they are is decided by who may send them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (request) => {
    if (isEnding()) throw closing();
    // Here and not in a handler, which would read the body first.
    if (request.is404) throw notFound();
  });
  app.addHook("onResponse", async (request, reply) => {
    metrics.answered(request.routeOptions.url ?? "none", reply.statusCode);
  });
  app.setErrorHandler((error: Error, request, reply) => answerError(options, { error, request, reply }));
  addEventsRoute(app, options);
  if (stripe !== null) addStripeRoute(app, stripe);
  app.get("/openapi.json", async (_request, reply) => {
    void reply.header("content-type", "application/json; charset=utf-8").send(openapi);
    return reply;
  });
  return app;
}

function addEventsRoute(app: FastifyInstance, options: GatewayServerOptions): void {
  const { tokens, rateLimit, intake, mostEvents } = options;
  const senders = new WeakMap<FastifyRequest, Sender>();
  const spend = (sender: Sender, events: number, taken: { readonly already: number }): void => {
    const waitMs = rateLimit.take(sender, events, taken);
    if (waitMs > 0) throw rateLimited(waitMs);
  };
  app.post(
    "/events",
    {
      // Before the body is read: a stranger's costs nothing.
      onRequest: async (request) => {
        const sender = tokens.senderOf(request.headers.authorization);
        if (sender === null) throw unauthorized();
        // One event at least; how many more is known once the body is here.
        spend(sender, 1, { already: 0 });
        senders.set(request, sender);
      },
    },
    async (request, reply) => {
      const sender = senders.get(request);
      if (sender === undefined) throw unauthorized();
      const { headers, raw } = request;
      const body = request.body as Buffer | undefined;
      const events = readEvents({ headers, rawHeaders: raw.rawHeaders, body }, { mostEvents });
      refuseForeign(sender, events);
      if (events.length > 1) spend(sender, events.length, { already: 1 });
      return answerResults(reply, await intake.publish(events));
    },
  );
}

function addStripeRoute(app: FastifyInstance, stripe: StripeWebhook): void {
  app.post("/webhooks/stripe", async (request, reply) => {
    const signature = request.headers["stripe-signature"];
    const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    const answer = await stripe.take({ signature: signature?.toString(), body });
    if (answer.kind === "refused") return answerResults(reply, answer.results);
    return send(reply, 200, { outcome: answer.outcome });
  });
}

/** All or nothing: a token that is used for somebody else's source is a mistake of the set-up, or worse. */
function refuseForeign(sender: Sender, events: readonly unknown[]): void {
  for (const event of events) {
    const { source } = Object(event) as { source?: unknown };
    // What is no text is unusable, and its own event is told so.
    if (typeof source !== "string" || sender.maySend(source)) continue;
    throw new Refusal({
      code: "FORBIDDEN_SOURCE",
      message: "this token may not publish events of that source; nothing was published",
      field: "source",
      rule: "a source that the token is for",
    });
  }
}

function answerResults(reply: FastifyReply, results: readonly EventResult[]): FastifyReply {
  const status = statusOf(results);
  if (status === 202) return send(reply, status, { results });
  if (status === 429 || status === 503) void reply.header("retry-after", RETRY_SECONDS[status]);
  const first = results.find((result): result is RefusedEvent => result.status === status);
  assert(first !== undefined, "a status other than 202 is one of the events'");
  const { code, message, field, rule } = first;
  // What is undefined vanishes as it becomes JSON.
  return send(reply, status, { error: { code, message, field, rule }, results });
}

function answerError(
  { logger }: GatewayServerOptions,
  { error, request, reply }: { error: Error; request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const refusal = refusalOf(error);
  if (refusal === null) logger.error(faultOf(error), "a request met a fault of ours");
  const { status, code, told, retryAfterSeconds } =
    refusal ?? new Refusal({ code: "INTERNAL", message: "a fault of ours; publish again" });
  if (code === "UNAUTHORIZED") void reply.header("www-authenticate", "Bearer");
  if (retryAfterSeconds !== undefined) void reply.header("retry-after", retryAfterSeconds);
  // Nobody waits for the rest of a body that is not going to be read.
  if (request.body === undefined) void reply.header("connection", "close");
  return send(reply, status, { error: told });
}

function send(reply: FastifyReply, status: number, document: object): FastifyReply {
  return reply
    .code(status)
    .header("content-type", "application/json; charset=utf-8")
    .header("cache-control", "no-store")
    .send(JSON.stringify(document));
}

function notFound(): Refusal {
  return new Refusal({ code: "NOT_FOUND", message: "there is nothing at this address" });
}

function unauthorized(): Refusal {
  return new Refusal({
    code: "UNAUTHORIZED",
    message: "a token that is known here is needed",
    field: "authorization",
    rule: "Bearer and a token of at least 32 characters",
  });
}

function closing(): Refusal {
  return new Refusal({ code: "CLOSING", message: "this process is ending", retryAfterSeconds: 1 });
}

function rateLimited(waitMs: number): Refusal {
  return new Refusal({
    code: "RATE_LIMITED",
    message: "this token has sent too many events; nothing of this request was published",
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  });
}
