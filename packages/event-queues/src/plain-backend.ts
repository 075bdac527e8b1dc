import { RedisQueueBackend } from "bullmq";

/** What a job is read by here: what it carries, and how often it was begun. */
const FIELDS_READ: ReadonlySet<string> = new Set(["name", "data", "ats", "stc", "timestamp", "processedOn"]);
/** BullMQ's scripts that hand out a job. */
const FETCHING: ReadonlySet<string> = new Set(["moveToActive", "moveToFinished", "moveToDelayed"]);

type Arguments = Parameters<RedisQueueBackend["execCommand"]>;

/**
 * BullMQ's way to Redis, on which a job is its name and its data. Options, parents, schedules and verdicts that somebody wrote
 * beside them are not looked at: how a job is tried, kept and ended is this fleet's business, and one whose options are not
 * even JSON would otherwise be fetched, not be read, and be fetched again for ever, with its whole queue behind it.
 */
export class PlainBackend extends RedisQueueBackend {
  override execCommand(...[client, name, args]: Arguments): unknown {
    const reply: unknown = super.execCommand(client, name, args);
    return FETCHING.has(name) && reply instanceof Promise ? reply.then(withPlainJob) : reply;
  }
}

/** Replies of these scripts begin with the fields of a job, or with 0; some are a number that says what went wrong. */
function withPlainJob(reply: unknown): unknown {
  if (!Array.isArray(reply) || !Array.isArray(reply[0])) return reply;
  const [fields, ...rest] = reply as [readonly unknown[], ...unknown[]];
  const plain: unknown[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    if (FIELDS_READ.has(String(fields[index]))) plain.push(fields[index], fields[index + 1]);
  }
  return [plain, ...rest];
}
