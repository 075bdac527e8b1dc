import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * A free port of 127.0.0.1 below the range from which systems take the ports of outgoing connections. Within that range a
 * server that is away for a while loses its port to any client, or a client that keeps dialling it connects to itself.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(15_000, 32_000);
    if (await canListen(port)) return port;
  }
  throw new Error("no free port between 15000 and 32000");
}

export async function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
