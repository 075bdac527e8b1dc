import type { Examination } from "@junban/operations";
import type { FastifyInstance } from "fastify";
import { personOf } from "../access.ts";
import { doctorPage } from "../pages/doctor.ts";
import { readerOf } from "../reader.ts";
import type { ConsoleServerOptions } from "../server.ts";
import { sendPage } from "./send-page.ts";

export function addDoctorRoutes(
  app: FastifyInstance,
  { examine }: Pick<ConsoleServerOptions, "examine">,
): void {
  // However many ask at once, the servers are examined once.
  let underWay: Promise<Examination> | undefined;
  app.get("/doctor", async (request, reply) => {
    underWay ??= examine().finally(() => {
      underWay = undefined;
    });
    return sendPage(reply, doctorPage(await underWay, readerOf(personOf(request))));
  });
}
