import type { AuditDifference } from "@junban/order-store";
import type { EventEnvelope } from "@junban/orders";
import type { Decision } from "./decisions.ts";
import type { Live } from "./live.ts";

export interface Judgement {
  /** Events decided before one of the same order that was published earlier. */
  readonly inversions: number;
  /** Published events without a row. */
  readonly lost: number;
  /** Orders of which more was applied than their own history tells. */
  readonly doubled: number;
}

/**
 * What came of the events, given in publish order: by the store's rows. Where a contender keeps no order its events meet other
 * orders than the told ones, so that some are held or rejected; they count as decided, and what was applied is compared with the
 * order's own history rather than with the published one.
 */
export async function judge(
  live: Pick<Live, "decisions" | "audit">,
  events: readonly EventEnvelope[],
): Promise<Judgement> {
  const lcids = [...new Set(events.map(({ lcid }) => lcid))];
  return { ...placesOf(events, await live.decisions(lcids)), doubled: await doubledOf(live, lcids) };
}

/** Inversions and losses: by the place of each event's first decision. */
export function placesOf(
  events: readonly EventEnvelope[],
  decisions: readonly Decision[],
): Pick<Judgement, "inversions" | "lost"> {
  const seqs = new Map(decisions.map((decision) => [identityOf(decision), decision.seq]));
  const latest = new Map<string, number>();
  let inversions = 0;
  let lost = 0;
  for (const event of events) {
    const seq = seqs.get(identityOf(event));
    if (seq === undefined) {
      lost += 1;
      continue;
    }
    const before = latest.get(event.lcid) ?? 0;
    if (seq < before) inversions += 1;
    latest.set(event.lcid, Math.max(before, seq));
  }
  return { inversions, lost };
}

/** Orders whose rows go beyond what the applied events of their history make of them. */
export async function doubledOf(live: Pick<Live, "audit">, lcids: readonly string[]): Promise<number> {
  let doubled = 0;
  for await (const { differences } of live.audit(lcids)) if (differences.some(isBeyond)) doubled += 1;
  return doubled;
}

/** What only grows by applying an event. */
const GROWING =
  /\.(version|(authorized|captured|voided|refunded)_minor|peak|cancelled|reserved|released|shipped)$/u;

function isBeyond({ field, stored, folded }: AuditDifference): boolean {
  // A history that cannot be applied again in its own order: an event in it stands on its own effect.
  if (field === "order_events") return true;
  return GROWING.test(field) && Number(stored) > Number(folded);
}

/** The same for an event and for its decision. */
export function identityOf({ source, id }: { readonly source: string; readonly id: string }): string {
  return JSON.stringify([source, id]);
}
