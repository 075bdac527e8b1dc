import { EventNotFoundError, WrongOutcomeError, type OperatorResult } from "@junban/order-store";
import type { Family } from "@junban/orders";
import { DeadJobNotFoundError } from "./errors.ts";
import type { Fleet } from "./fleet.ts";
import { withLane } from "./lane-turn.ts";

/** Where a dead letter lies: an event on record, or a job that holds no usable event and never came that far. */
export type DeadAddress =
  | { readonly kind: "event"; readonly source: string; readonly id: string }
  | { readonly kind: "job"; readonly family: Family; readonly id: string };

/** What became of it: an event was decided (again), or a job was put back or deleted. */
export type OperatorOutcome =
  | ({ readonly kind: "event"; readonly lcid: string } & OperatorResult)
  | { readonly kind: "job" };

/**
 * Decides a failed or rejected event once more, in its place, and after a failed one the events it blocked; a job goes back
 * into its queue.
 * @throws {EventNotFoundError | WrongOutcomeError | DeadJobNotFoundError | LaneBusyError} when nothing was changed.
 */
export async function replayDead(fleet: Fleet, letter: DeadAddress): Promise<OperatorOutcome> {
  if (letter.kind === "event") return inItsLane(fleet, letter, () => fleet.store.replay(letter));
  if (!(await fleet.queues.retryDead(letter.family, letter.id))) throw new DeadJobNotFoundError(letter);
  return { kind: "job" };
}

/**
 * Gives a failed or held event up for good, or acknowledges a rejected one's alert; `reason` is kept with the event. A job
 * is deleted, and no reason is kept.
 * @throws {EventNotFoundError | NoAlertError | WrongOutcomeError | DeadJobNotFoundError | LaneBusyError} when nothing was
 * changed.
 */
export async function dropDead(
  fleet: Fleet,
  letter: DeadAddress,
  { reason }: { readonly reason: string },
): Promise<OperatorOutcome> {
  if (letter.kind === "event") {
    const { source, id } = letter;
    return inItsLane(fleet, letter, () => fleet.store.drop({ source, id, reason }));
  }
  if (!(await fleet.queues.dropDead(letter.family, letter.id))) throw new DeadJobNotFoundError(letter);
  return { kind: "job" };
}

/**
 * Ends the alert of a rejected event, and nothing else: one that has come to something else since is left alone.
 * @throws {EventNotFoundError | NoAlertError | WrongOutcomeError | LaneBusyError} when nothing was changed.
 */
export async function acknowledgeDead(
  fleet: Fleet,
  event: { readonly source: string; readonly id: string },
  { reason }: { readonly reason: string },
): Promise<OperatorOutcome> {
  return inItsLane(fleet, event, async () => {
    const now = await fleet.store.readEvent(event);
    if (now !== null && now.outcome !== "rejected") {
      throw new WrongOutcomeError({ outcome: now.outcome, version: now.version, asked: "acknowledge" });
    }
    return fleet.store.drop({ ...event, reason });
  });
}

async function inItsLane(
  { store, lanes }: Fleet,
  { source, id }: { readonly source: string; readonly id: string },
  act: () => Promise<OperatorResult>,
): Promise<OperatorOutcome> {
  const event = await store.readEvent({ source, id });
  if (event === null) throw new EventNotFoundError({ source, id });
  const result = await withLane(lanes, event.lcid, act);
  return { kind: "event", lcid: event.lcid, ...result };
}
