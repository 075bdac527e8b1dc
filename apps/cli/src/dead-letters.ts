import {
  dropAct,
  dropDead,
  replayAct,
  replayDead,
  type ActCarriedOut,
  type DeadAddress,
  type OperatorOutcome,
  printable,
} from "@junban/operations";
import { FAMILIES, type Family } from "@junban/orders";
import type { Setting } from "./command.ts";
import { FoundWrong, UsageError } from "./exit.ts";
import { failureSays, type NotedActs } from "./noted.ts";
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

/** What there is to ask for, for whoever asked for a reason that no dead letter has. */
export async function noteReasons({ services, printer }: Setting): Promise<void> {
  const reasons = await services.store().deadReasons();
  if (reasons.length > 0) {
    printer.note(
      `reasons are written in capitals; dead letters have these: ${reasons.map((reason) => printable(reason)).join(", ")}`,
    );
  }
}

/** What came of one letter. */
export interface Acted {
  readonly done: boolean;
  readonly says: string;
}

export async function each(
  { printer, signal }: Setting,
  identities: readonly Identity[],
  { word, json, act }: { word: string; json: boolean; act: (identity: Identity) => Promise<Acted> },
): Promise<void> {
  const results: (Identity & Acted)[] = [];
  for (const identity of identities) {
    if (signal.aborted) break;
    const result = { ...identity, ...(await act(identity)) };
    results.push(result);
    if (!json) {
      printer.out(`${printable(identity.source)} ${printable(identity.id)}: ${printable(result.says)}`);
    }
    printer.progress(`${count(results.length)} of ${count(identities.length)}`);
  }
  printer.endProgress();
  const done = results.filter((result) => result.done).length;
  if (json) printer.json({ [word]: done, results });
  // Of one event its own line says all there is to say.
  else if (identities.length !== 1) printer.out(`${count(done)} ${word}`);
  if (done < identities.length) throw new FoundWrong("");
}

/** Decides one letter again, on record. What concerns all of them, such as a database that is away, ends the command. */
export async function replayOne({ services }: Setting, acts: NotedActs, identity: Identity): Promise<Acted> {
  const address = addressOf(identity);
  const told = (outcome: OperatorOutcome): string => describedOutcome(outcome, "put back into its queue");
  const options = { told, inRedis: address.kind === "job" };
  const work = async (): Promise<OperatorOutcome> => replayDead(services.fleet(), address);
  return actedOn(await acts.carryOut(replayAct(address), work, options), told);
}

export async function dropOne(
  { services }: Setting,
  acts: NotedActs,
  { reason, ...identity }: Identity & { readonly reason: string },
): Promise<Acted> {
  const address = addressOf(identity);
  const told = (outcome: OperatorOutcome): string => describedOutcome(outcome, "deleted");
  const options = { told, inRedis: address.kind === "job" };
  const work = async (): Promise<OperatorOutcome> => dropDead(services.fleet(), address, { reason });
  return actedOn(await acts.carryOut(dropAct(address, { reason }), work, options), told);
}

function actedOn(acted: ActCarriedOut<OperatorOutcome>, told: (outcome: OperatorOutcome) => string): Acted {
  if (acted.kind === "done") return { done: true, says: told(acted.result) };
  if (acted.act.isForAll) throw acted.error;
  return { done: acted.act.changed === "part", says: failureSays(acted.act) };
}

function describedOutcome(outcome: OperatorOutcome, ofJob: string): string {
  if (outcome.kind === "job") return ofJob;
  return outcome.acknowledged ? "acknowledged" : described(outcome);
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
