import type { News } from "@junban/order-store";

/** Why news cannot be passed on; null when they can. Rows that the store wrote are sound; others may have been put there by hand. */
export function unsoundness({ lcid, version, payload }: News): string | null {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    return "its payload is no object";
  }
  const told = payload as { readonly lcid?: unknown; readonly version?: unknown };
  if (told.lcid !== lcid) return "its payload names another order";
  return told.version === version ? null : "its payload names another version";
}
