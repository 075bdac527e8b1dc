import type { Lanes, LaneView, LinePlace } from "@junban/handoff-lock";
import { readEnvelopeText } from "@junban/orders";

/** Which event stands in a line; never what it says. */
export interface EventNamed {
  readonly source: string;
  readonly id: string;
  readonly type: string;
}

/** A request and its place in line. */
export interface StandingRequest {
  /** 1 is the head. */
  readonly place: number;
  /** The request's key: it names the event and its body at once. */
  readonly key: string;
  /** Null when the body was lost or holds no usable event. */
  readonly event: EventNamed | null;
  /** By the clock of Redis, in milliseconds since 1970; null when the body was lost. */
  readonly publishedAtMs: number | null;
  /** Whether its job waits in a worker at this moment. */
  readonly seated: boolean;
}

/** One lane in full, and a page of its line. */
export interface LaneInFull extends Omit<LaneView, "line"> {
  readonly line: readonly StandingRequest[];
}

/** One lane at one moment: its report, `limit` requests (1 to 256) behind the first `skip`, and outcomes nobody came for. */
export async function readLane(
  lanes: Lanes,
  { lcid, skip = 0, limit }: { readonly lcid: string; readonly skip?: number; readonly limit: number },
): Promise<LaneInFull> {
  const view = await lanes.show(lcid, { skip, limit });
  return { ...view, line: view.line.map((at, index) => standing(at, skip + index + 1)) };
}

function standing({ key, body, publishedAtMs, seated }: LinePlace, place: number): StandingRequest {
  return { place, key, event: body === null ? null : named(body), publishedAtMs, seated };
}

function named(body: string): EventNamed | null {
  const reading = readEnvelopeText(body);
  if (reading.kind === "unusable") return null;
  const { source, id, type } = reading.envelope;
  return { source, id, type };
}
