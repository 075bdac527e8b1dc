import type { OrderDraft } from "./draft.ts";

/** One thing that may happen next to an order: how likely now, and what it tells. */
export interface Scene {
  /** Zero when the scene cannot happen now. */
  weight(draft: OrderDraft): number;
  /** Tells exactly one event. */
  play(draft: OrderDraft): void;
}
