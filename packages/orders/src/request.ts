import type { EventEnvelope } from "./envelope.ts";

/** What stands in a lane for an event. */
export interface OrderRequest {
  /** 22 characters; also the inbox's digest of the body. */
  readonly key: string;
  readonly lcid: string;
  readonly type: string;
  /** JSON text of at most MAX_EVENT_BYTES. */
  readonly body: string;
}

export function requestOf(_envelope: EventEnvelope): OrderRequest {
  throw new Error("not written yet");
}

export function sameBody(_a: EventEnvelope, _b: EventEnvelope): boolean {
  throw new Error("not written yet");
}

export function excerptOf(_text: string): string {
  throw new Error("not written yet");
}
