import {
  DeadJobNotFoundError,
  dropDead,
  LaneBusyError,
  replayDead,
  type DeadAddress,
} from "@junban/operations";
import { EventNotFoundError, WrongOutcomeError } from "@junban/order-store";
import { FAMILIES, type Family } from "@junban/orders";
import type { Setting } from "./command.ts";
import { FoundWrong, UsageError } from "./exit.ts";
import { printable } from "./printable.ts";
import { count, counted } from "./printing.ts";

/** A job without a usable event has no source and id; it is addressed by `job:FAMILY` and the job's id. */
export const JOB_SOURCE = "job:";
/** Most dead letters that one command lists or replays. */
export const ALL_LIMIT = 100_000;

export interface Identity {
  readonly source: string;
  readonly id: string;
}

/** Failed events, or all dead letters of a reason: the newest so many, and whether there are more. */
export async function allOf(
  { services }: Setting,
  { reason, limit }: { readonly reason: string | undefined; readonly limit: number },
): Promise<{ readonly identities: readonly Identity[]; readonly areMore: boolean }> {
  const letters = await services.store().listDead({
    limit: limit + 1,
    ...(reason === undefined ? { outcome: "failed" as const } : { reason }),
  });
  // Oldest first, as they came.
  const taken = letters.slice(0, limit).toSorted((left, right) => left.seq - right.seq);
  return {
    identities: taken.map(({ source, id }) => ({ source, id })),
    areMore: letters.length > limit,
  };
}

interface Result {
  readonly source: string;
  readonly id: string;
  readonly done: boolean;
  readonly says: string;
}

export async function each(
  { printer, signal }: Setting,
  identities: readonly Identity[],
  { word, json, act }: { word: string; json: boolean; act: (identity: Identity) => Promise<string> },
): Promise<void> {
  const results: Result[] = [];
  for (const identity of identities) {
    if (signal.aborted) break;
    const result = await act(identity).then(
      (says): Result => ({ ...identity, done: true, says }),
      (error: unknown): Result => ({ ...identity, done: false, says: refusal(error) }),
    );
    results.push(result);
    if (!json) {
      printer.out(`${printable(identity.source)} ${printable(identity.id)}: ${printable(result.says)}`);
    }
    printer.progress(`${count(results.length)} of ${count(identities.length)}`);
  }
  printer.endProgress();
  const done = results.filter((result) => result.done).length;
  if (json) printer.json({ [word]: done, results });
  else printer.out(`${count(done)} ${word}`);
  if (done < identities.length) throw new FoundWrong("");
}

/** What concerns one letter only; anything else, such as a database that is away, ends the command. */
const CONCERNS_ONE = [EventNotFoundError, WrongOutcomeError, DeadJobNotFoundError, LaneBusyError] as const;

function refusal(error: unknown): string {
  if (CONCERNS_ONE.some((kind) => error instanceof kind) && error instanceof Error) return error.message;
  throw error;
}

export async function replayOne({ services }: Setting, identity: Identity): Promise<string> {
  const result = await replayDead(services.fleet(), addressOf(identity));
  return result.kind === "job" ? "put back into its queue" : described(result);
}

export async function dropOne({ services }: Setting, identity: Identity, reason: string): Promise<string> {
  const result = await dropDead(services.fleet(), addressOf(identity), { reason });
  return result.kind === "job" ? "deleted" : described(result);
}

function described({
  outcome,
  reason,
  released,
  halted,
}: {
  outcome: string;
  reason: string | null;
  released: number;
  halted: boolean;
}): string {
  const after = released > 0 ? `; ${counted(released, "blocked event")} decided after it` : "";
  return `${outcome}${reason === null ? "" : ` ${reason}`}${after}${halted ? "; the order is still halted" : ""}`;
}

function addressOf({ source, id }: Identity): DeadAddress {
  const family = familyOfJob(source);
  return family === null ? { kind: "event", source, id } : { kind: "job", family, id };
}

function familyOfJob(source: string): Family | null {
  if (!source.startsWith(JOB_SOURCE)) return null;
  const family = FAMILIES.find((name) => name === source.slice(JOB_SOURCE.length));
  if (family === undefined) {
    throw new UsageError(`"${source}" names no queue: write job: and one of ${FAMILIES.join(", ")}`);
  }
  return family;
}
