import helmet from "@fastify/helmet";
import type { RawQueues } from "@junban/event-queues";
import type { Examination, Fleet } from "@junban/operations";
import type { Logger } from "@junban/service";
import fastify from "fastify";
import type { FastifyInstance } from "fastify";
import type { Access, AccessRules } from "./access.ts";
import { guardAccess } from "./access.ts";
import type { Actions } from "./actions.ts";
import type { Asset } from "./assets.ts";
import type { Doorkeeper } from "./doorkeeper.ts";
import type { LiveGlance } from "./live-glance.ts";
import type { LoginDesk } from "./login-desk.ts";
import type { OwnOrigin } from "./own-origin.ts";
import { Refusal } from "./refusal.ts";
import { addActRoutes } from "./routes/acts.ts";
import { addAssetRoutes } from "./routes/assets.ts";
import { addDoctorRoutes } from "./routes/doctor.ts";
import { addFleetRoutes } from "./routes/fleet.ts";
import { addListRoutes } from "./routes/lists.ts";
import { addLoginRoutes } from "./routes/login.ts";
import { addOrderRoutes } from "./routes/orders.ts";
import { addQueueRoutes } from "./routes/queues.ts";
import { addSearchRoutes } from "./routes/search.ts";
import { answerTrouble } from "./server-errors.ts";

export interface ConsoleServerOptions {
  readonly fleet: Fleet;
  readonly rawQueues: RawQueues;
  readonly doorkeeper: Doorkeeper;
  readonly loginDesk: LoginDesk;
  readonly origin: OwnOrigin;
  readonly actions: Actions;
  readonly live: LiveGlance;
  /** What the doctor finds now. Never rejects because of a service that is away. */
  readonly examine: () => Promise<Examination>;
  readonly assets: readonly Asset[];
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** Whether the process is ending: what comes now is refused. */
  readonly isEnding: () => boolean;
  /** Seam for tests: told of every address there is. */
  readonly onRoute?: (route: { readonly method: string | string[]; readonly url: string }) => void;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Who may come here; default `viewer`. */
    access?: Access;
  }
}

const MOST_BODY_BYTES = 16_384;
const MOST_HEADER_BYTES = 16_384;
const REQUEST_MS = 10_000;
const MOST_CONNECTIONS = 512;
const ONE_YEAR_SECONDS = 31_536_000;

/** The server of the console: who may come in, what browsers are told to allow, and the form of every answer. */
export async function createConsoleServer(options: ConsoleServerOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    bodyLimit: MOST_BODY_BYTES,
    requestTimeout: REQUEST_MS,
    return503OnClosing: false,
    http: { headersTimeout: REQUEST_MS, maxHeaderSize: MOST_HEADER_BYTES },
    frameworkErrors: (error, request, reply) => {
      answerTrouble(options, { error, request, reply });
    },
  });
  app.server.maxConnections = MOST_CONNECTIONS;
  if (options.onRoute !== undefined) app.addHook("onRoute", options.onRoute);
  await app.register(helmet, helmetOptions(options.origin));
  readForms(app);
  const rules: AccessRules = options;
  guardAccess(app, rules);
  app.setErrorHandler((error: Error, request, reply) => answerTrouble(options, { error, request, reply }));
  app.setNotFoundHandler(() => {
    throw new Refusal("NOT_FOUND", "There is nothing at this address.");
  });
  app.addHook("onSend", async (_request, reply) => {
    // What is shown here is nobody else's, on a shared machine or in a proxy. Assets have said otherwise by now.
    if (!reply.hasHeader("cache-control")) void reply.header("cache-control", "no-store");
  });
  app.get("/livez", { config: { access: "anyone" } }, async (_request, reply) =>
    reply.type("text/plain").send("ok\n"),
  );
  addAssetRoutes(app, options);
  addLoginRoutes(app, options);
  addFleetRoutes(app, options);
  addDoctorRoutes(app, options);
  addOrderRoutes(app, options);
  addSearchRoutes(app, options);
  addListRoutes(app, options);
  addActRoutes(app, options);
  await addQueueRoutes(app, options);
  return app;
}

/** Nothing but what the console itself serves: no script or style within a page, no frame around it, no other place to send to. */
function helmetOptions({ isSecure }: OwnOrigin): Parameters<typeof helmet>[1] {
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
      },
    },
    // Without a referrer a browser would not say either where a form comes from.
    referrerPolicy: { policy: "same-origin" },
    strictTransportSecurity: isSecure && { maxAge: ONE_YEAR_SECONDS },
  };
}

/** Forms and nothing else. A field that comes twice is refused, since which of the two counts differs between readers. */
function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
}
