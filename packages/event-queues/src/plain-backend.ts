import { raw2NextJobData, RedisQueueBackend } from "bullmq";
import type { Redis } from "ioredis";
import type { CorkedWrites } from "./corked-writes.ts";
import { unsoundFields } from "./damaged-jobs.ts";
import type { EndsUnderWay } from "./ends-under-way.ts";
import { JobEnds } from "./job-ends.ts";
import type { Completion } from "./job-ends.ts";

/** What a job is read by here: what it carries, how often it was begun, and whether it stood back for others. */
const FIELDS_READ: ReadonlySet<string> = new Set([
  "name",
  "data",
  "ats",
  "stc",
  "timestamp",
  "processedOn",
  "priority",
]);
/** BullMQ's scripts that hand out a job. */
const FETCHING: ReadonlySet<string> = new Set(["moveToActive", "moveToFinished", "moveToDelayed"]);

interface Own {
  readonly client: Redis;
  readonly writes: CorkedWrites;
  readonly underWay: EndsUnderWay;
}

type Arguments = Parameters<RedisQueueBackend["execCommand"]>;
type Client = Awaited<RedisQueueBackend["client"]>;
type Completed = Awaited<ReturnType<RedisQueueBackend["moveToCompleted"]>>;

/**
 * BullMQ's way to Redis, on which a job is its name and its data. Options, schedules and verdicts that somebody wrote beside
 * them are not looked at: how a job is tried, kept and ended is this fleet's business, and one whose options are not even JSON
 * would otherwise be fetched, not be read, and be fetched again for ever, with its whole queue behind it.
 */
export class PlainBackend extends RedisQueueBackend {
  readonly #own: Own;
  readonly #client: Redis;
  readonly #ends: JobEnds;

  constructor(own: Own, ...given: ConstructorParameters<typeof RedisQueueBackend>) {
    super(...given);
    this.#own = own;
    this.#client = own.client;
    this.#ends = new JobEnds({
      ...own,
      scriptName: `moveToFinished:${this.version}`,
      argumentsFor: (...completion) =>
        this.moveToCompletedArgs(...completion) as (string | number | Buffer)[],
    });
  }

  /**
   * The same queue for fetching alone, on which nothing but jobs of first priority is to be had: BullMQ's script finds nothing
   * where it looks for the others. The bare prefix is no key of the queue, whatever ids its jobs have.
   */
  ofFirstPriority(): PlainBackend {
    const { keys, toKey, opts } = this.queue;
    const nothing = keys[""] ?? "";
    const seen = { ...keys, prioritized: nothing, pc: nothing, delayed: nothing };
    return new PlainBackend(this.#own, this.connection, this.name, seen, toKey, opts, undefined, false);
  }

  override execCommand(...[client, name, args]: Arguments): unknown {
    const reply: unknown = super.execCommand(client, name, args);
    if (!FETCHING.has(name) || !(reply instanceof Promise)) return reply;
    return reply.then(async (answer: unknown) => this.#plain(client as Client, answer));
  }

  /** Together with other jobs that end at this moment. */
  override async moveToCompleted(...completion: Completion): Promise<Completed> {
    const [{ id: jobId = "" }] = completion;
    const answering = this.#ends.complete(completion);
    if (answering === null) return super.moveToCompleted(...completion);
    const answer = await answering;
    if (typeof answer === "number" && answer < 0) {
      throw this.finishedErrors({ code: answer, jobId, command: "moveToFinished", state: "active" });
    }
    const result = raw2NextJobData((await this.#plain(this.#client, answer)) as unknown[]);
    return { result, finishedOn: Date.now() };
  }

  /** Answers of these scripts begin with the fields of a job, or with 0; some are a number that says what went wrong. */
  async #plain(client: Pick<Client, "hdel">, answer: unknown): Promise<unknown> {
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
