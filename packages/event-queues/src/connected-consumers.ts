import type { Redis } from "ioredis";
import { isRefusal } from "./connection.ts";

/** The connections that wait for jobs at this moment, by their names. */
export interface ConnectedConsumers {
  /** Ids of the consumers whose connection's name begins so. */
  startingWith(start: string): readonly string[];
}

/** Null when the server does not tell who is connected, as where an access list forbids it. */
export async function connectedConsumers(client: Redis): Promise<ConnectedConsumers | null> {
  try {
    const list = String(await client.client("LIST"));
    const names = [...list.matchAll(/ name=(\S+)/g)].map((found) => found[1] ?? "");
    return {
      startingWith: (start) =>
        names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length)),
    };
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}
