import type { FastifyInstance } from "fastify";
import { personOf } from "../access.ts";
import { glancePage } from "../pages/glance.ts";
import { readerOf } from "../reader.ts";
import type { ConsoleServerOptions } from "../server.ts";
import { sendPage } from "./send-page.ts";

export function addFleetRoutes(app: FastifyInstance, { live }: Pick<ConsoleServerOptions, "live">): void {
  app.get("/", async (request, reply) => {
    const reader = readerOf(personOf(request));
    return sendPage(reply, glancePage(await live.look(), reader));
  });
  app.get("/live", async (request, reply) => {
    live.join(reply.raw, personOf(request));
    return reply.hijack();
  });
}
