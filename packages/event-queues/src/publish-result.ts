import type { PublishError } from "./errors.ts";

/** An acknowledged event: its request stands in the lane, its job in the queue. */
export interface Published {
  readonly lcid: string;
  /** The request key: the same event published again has the same one. */
  readonly key: string;
  /** How many requests stood in the lane up to and including this one. */
  readonly depth: number;
  /** BullMQ priority its job got. */
  readonly priority: number;
}

export type PublishResult =
  | ({ readonly kind: "published" } & Published)
  | { readonly kind: "refused"; readonly error: PublishError };
