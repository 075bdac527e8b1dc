import type { FastifyInstance } from "fastify";
import type { ConsoleServerOptions } from "../server.ts";

/** What pages need to be pages. Strangers get it too, for the door. */
export function addAssetRoutes(app: FastifyInstance, { assets }: Pick<ConsoleServerOptions, "assets">): void {
  for (const { name, type, text, etag } of assets) {
    app.get(`/assets/${name}`, { config: { access: "anyone" } }, async (request, reply) => {
      void reply.header("cache-control", "no-cache").header("etag", etag);
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      return reply.type(type).send(text);
    });
  }
}
