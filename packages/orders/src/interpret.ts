import type { EventEnvelope, RuleBroken } from "./envelope.ts";
import type { OrderEvent } from "./event.ts";

export type Interpretation =
  | { readonly kind: "known"; readonly event: OrderEvent }
  | { readonly kind: "unsupported"; readonly why: "type" | "schemaversion" }
  | ({ readonly kind: "invalid" } & RuleBroken);

export function interpret(_envelope: EventEnvelope): Interpretation {
  throw new Error("not written yet");
}
