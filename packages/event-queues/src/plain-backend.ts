import { RedisQueueBackend } from "bullmq";
import { unsoundFields } from "./damaged-jobs.ts";
import { callLeanly } from "./lean-scripts.ts";
import type { LeanClient } from "./lean-scripts.ts";

/** What a job is read by here: what it carries, and how often it was begun. */
const FIELDS_READ: ReadonlySet<string> = new Set(["name", "data", "ats", "stc", "timestamp", "processedOn"]);
/** BullMQ's scripts that hand out a job. */
const FETCHING: ReadonlySet<string> = new Set(["moveToActive", "moveToFinished", "moveToDelayed"]);

type Arguments = Parameters<RedisQueueBackend["execCommand"]>;
type Client = Awaited<RedisQueueBackend["client"]>;

/**
 * BullMQ's way to Redis, on which a job is its name and its data. Options, schedules and verdicts that somebody wrote beside
 * them are not looked at: how a job is tried, kept and ended is this fleet's business, and one whose options are not even JSON
 * would otherwise be fetched, not be read, and be fetched again for ever, with its whole queue behind it.
 */
export class PlainBackend extends RedisQueueBackend {
  override execCommand(...[client, name, args]: Arguments): unknown {
    const reply: unknown =
      name === "moveToFinished" ? this.#finish(client, args) : super.execCommand(client, name, args);
    if (!FETCHING.has(name) || !(reply instanceof Promise)) return reply;
    return reply.then(async (answer: unknown) => this.#plain(client as Client, answer));
  }

  /** The one script that is called for every job; the first time on a new server it is unknown there, and sent whole. */
  async #finish(client: Arguments[0], args: Arguments[2]): Promise<unknown> {
    try {
      // BullMQ wraps the client that it was given, and passes on what it does not know.
      const ending = callLeanly(client as unknown as LeanClient, `moveToFinished:${this.version}`, args);
      if (ending !== null) return await ending;
    } catch (error) {
      // Looked for anywhere in the message, as ioredis does: a proxy may put a word of its own before it.
      if (!(error instanceof Error && error.message.includes("NOSCRIPT"))) throw error;
    }
    return super.execCommand(client, "moveToFinished", args);
  }

  /** Answers of these scripts begin with the fields of a job, or with 0; some are a number that says what went wrong. */
  async #plain(client: Client, answer: unknown): Promise<unknown> {
    if (!Array.isArray(answer) || !Array.isArray(answer[0])) return answer;
    const [fields, id, ...rest] = answer as [readonly string[], string, ...unknown[]];
    const record: Record<string, string> = Object.create(null) as Record<string, string>;
    const plain: string[] = [];
    for (let index = 0; index + 1 < fields.length; index += 2) {
      const name = fields[index] ?? "";
      const value = fields[index + 1] ?? "";
      record[name] = value;
      if (FIELDS_READ.has(name)) plain.push(name, value);
    }
    const unsound = unsoundFields(record);
    if (unsound.length > 0) await client.hdel(this.queue.toKey(id), ...unsound);
    return [plain, id, ...rest];
  }
}
