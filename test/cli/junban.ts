import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { freshDatabase, freshRedis } from "../support/index.ts";

/** What people start, compiled: `npm test` builds it first. */
export const JUNBAN = fileURLToPath(new URL("../../apps/cli/bin/junban.js", import.meta.url));

export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  json(): unknown;
}

export interface CommandOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Shell {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
  junban(args: readonly string[], options?: CommandOptions): Promise<Run>;
}

/** The command as people start it, a process of its own, on a database and a key prefix of its own. */
export async function openShell(): Promise<Shell> {
  const databaseUrl = await freshDatabase();
  const { url: redisUrl, prefix } = freshRedis();
  return {
    databaseUrl,
    redisUrl,
    prefix,
    junban: async (args, { input = "", env = {} } = {}) => {
      const tree = await startProcess({
        command: process.execPath,
        args: [JUNBAN, ...args],
        input,
        env: {
          PATH: process.env["PATH"],
          DATABASE_URL: databaseUrl,
          REDIS_URL: redisUrl,
          JUNBAN_PREFIX: prefix,
          ...env,
        },
      });
      const { code } = await tree.exited;
      const [out, err] = [tree.stdout(), tree.stderr()];
      return { code, out, err, json: () => JSON.parse(out) as unknown };
    },
  };
}

let made = 0;

/** One event of a file, as text. */
export function line(lcid: string, type: string, data: unknown, over: Record<string, unknown> = {}): string {
  made += 1;
  return JSON.stringify({ specversion: "1.0", id: `e-${made}`, source: "/shop", type, lcid, data, ...over });
}

export function placed(lcid: string, over: Record<string, unknown> = {}): string {
  const lines = [{ lineId: "l-1", sku: "tea", quantity: 2, unitAmount: 500 }];
  return line(lcid, "order.placed", { currency: "JPY", adjustment: 0, shipGate: "captured", lines }, over);
}

export function authorized(lcid: string, authorizationId: string, amount = 1_000): string {
  return line(lcid, "payment.authorized", { authorizationId, amount, currency: "JPY" });
}
