import type { Person } from "./doorkeeper.ts";
import type { Reader } from "./pages/layout.ts";

/** What a page needs of whoever reads it. */
export function readerOf({ name, role, formToken, cookie }: Person): Reader {
  return { name, role, formToken, canLogOut: cookie !== null };
}
