import { referencesOf, type OrderEvent, type RefName } from "@junban/orders";

/** A business reference of one order. */
export interface LaneRef extends RefName {
  readonly lcid: string;
}

/** Every reference that deciding the event may look up. */
export function namesOf(lcid: string, event: OrderEvent): readonly LaneRef[] {
  return referencesOf(event).map(({ kind, ref }) => ({ lcid, kind, ref }));
}

/** Names as the arrays that a statement takes, each once. */
export function columnsOf(names: readonly LaneRef[]): { lcids: string[]; kinds: string[]; refs: string[] } {
  const unique = [
    ...new Map(names.map((name) => [`${name.lcid}\0${name.kind}\0${name.ref}`, name])).values(),
  ];
  return {
    lcids: unique.map(({ lcid }) => lcid),
    kinds: unique.map(({ kind }) => kind),
    refs: unique.map(({ ref }) => ref),
  };
}
