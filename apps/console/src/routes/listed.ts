import type { Listed } from "../pages/lists.ts";

/** Rows on one page. One more is asked for, which tells whether there are more. */
export const LIST_SIZE = 100;

export function listed<Row>(rows: readonly Row[]): Listed<Row> {
  return { rows: rows.slice(0, LIST_SIZE), more: rows.length > LIST_SIZE };
}
