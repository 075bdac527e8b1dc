import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { HttpListenError } from "./errors.ts";

export interface HttpServerOptions {
  /** Default 127.0.0.1: what a worker says about itself is nobody else's business unless somebody decides so. */
  host?: string;
  /** 0 takes a free port. */
  port: number;
  /** `/livez`: false means that only a restart helps. */
  live(): boolean | Promise<boolean>;
  /** `/readyz`: whether work is really moving; the detail says what is not, and holds no secrets. */
  ready(): Promise<{ ok: boolean; detail: object }>;
  /** `/metrics`: Prometheus text. */
  metrics(): Promise<string>;
  /** How long an answer may take before 503. Default 5000. */
  limitMs?: number;
}

export interface HealthServer {
  readonly port: number;
  /** Stops listening and ends open connections. May be called twice. */
  close(): Promise<void>;
}

interface Answer {
  status: number;
  contentType: string;
  text: string;
}

const TEXT = "text/plain; charset=utf-8";
const JSON_TEXT = "application/json; charset=utf-8";
const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

/** Starts the small server behind probes and scrapers. Throws HttpListenError when it cannot listen. */
export async function startHttpServer(options: HttpServerOptions): Promise<HealthServer> {
  const { host = "127.0.0.1", limitMs = 5_000 } = options;
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    "/livez": shared(limitMs, async () => liveAnswer(options)),
    "/readyz": shared(limitMs, async () => readyAnswer(options)),
    "/metrics": shared(limitMs, async () => metricsAnswer(options)),
  };
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000, maxHeaderSize: 8_192 });
  server.maxConnections = 64;
  server.keepAliveTimeout = 5_000;
  server.on("request", (request, response) => {
    void answer(request, answers).then((found) => send(request, response, found));
  });
  const port = await listen(server, { host, port: options.port });
  return {
    port,
    close: async () => {
      if (!server.listening) return;
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

async function liveAnswer(options: HttpServerOptions): Promise<Answer> {
  const isLive = await options.live();
  return { status: isLive ? 200 : 503, contentType: TEXT, text: isLive ? "ok\n" : "not live\n" };
}

async function readyAnswer(options: HttpServerOptions): Promise<Answer> {
  const { ok, detail } = await options.ready();
  return { status: ok ? 200 : 503, contentType: JSON_TEXT, text: `${JSON.stringify({ ok, ...detail })}\n` };
}

async function metricsAnswer(options: HttpServerOptions): Promise<Answer> {
  return { status: 200, contentType: PROMETHEUS_TEXT, text: await options.metrics() };
}

/** Requests that come while an answer is being prepared share it, so that a flood of probes is one probe of the services. */
function shared(limitMs: number, prepare: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<Answer> | undefined;
  return async () => {
    running ??= bounded(limitMs, prepare).finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Never rejects. A check that hangs is left behind, or every later probe would hang with it. */
async function bounded(limitMs: number, prepare: () => Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<Answer>((resolve) => {
    timer = setTimeout(
      () => resolve({ status: 503, contentType: TEXT, text: "no answer in time\n" }),
      limitMs,
    );
  });
  try {
    return await Promise.race([prepare(), bound]);
  } catch {
    // The error's text could hold anything; the owner of the callback has logged what it wanted to say.
    return { status: 503, contentType: TEXT, text: "the check failed\n" };
  } finally {
    clearTimeout(timer);
  }
}

async function answer(
  request: IncomingMessage,
  answers: Readonly<Record<string, () => Promise<Answer>>>,
): Promise<Answer> {
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  const prepare = Object.hasOwn(answers, path) ? answers[path] : undefined;
  if (prepare === undefined) return { status: 404, contentType: TEXT, text: "not found\n" };
  if (request.method !== "GET" && request.method !== "HEAD") {
    return { status: 405, contentType: TEXT, text: "only GET and HEAD\n" };
  }
  return prepare();
}

function send(request: IncomingMessage, response: ServerResponse, found: Answer): void {
  response.writeHead(found.status, {
    "content-type": found.contentType,
    "content-length": Buffer.byteLength(found.text),
    "cache-control": "no-store",
    ...(found.status === 405 ? { allow: "GET, HEAD" } : {}),
  });
  response.end(request.method === "HEAD" ? undefined : found.text);
}

async function listen(server: Server, place: { host: string; port: number }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new HttpListenError(place, { cause })));
    server.listen(place, resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : place.port;
}
