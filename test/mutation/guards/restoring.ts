import type { Guard } from "./guard.ts";

/** The steps of docs/operations.md by which a fleet is put back, and what becomes of it when one is left out. */

const PAGE = "docs/operations.md";
const RESTORE = "test/journey/restore.test.ts";
const POSTGRES = "whose Postgres goes back";
const REDIS = "whose Redis is emptied";

export const RESTORING_GUARDS: readonly Guard[] = [
  {
    promise: "restored held events are not rejected before what they wait for comes again",
    file: PAGE,
    guard: "greatest(deferred_until, now() + interval '1 day')",
    without: "deferred_until",
    tests: [{ file: RESTORE, title: POSTGRES }],
  },
  {
    promise: "what stands in Redis does not overtake what is published again",
    file: PAGE,
    guard: "| xargs -r -n 500 $redis unlink",
    without: "> keys.txt",
    tests: [{ file: RESTORE, title: POSTGRES }],
  },
  {
    promise: "a subscriber forgets versions that a restored fleet gives anew",
    file: PAGE,
    guard:
      "delete from invoices using restored where invoices.lcid = restored.lcid and invoices.version > restored.version;",
    without: "",
    tests: [{ file: RESTORE, title: POSTGRES }],
  },
  {
    promise: "a subscriber hears of orders whose updates went with Redis",
    file: PAGE,
    guard: "where o.updated_at > now() - interval '7 days'",
    without: "where false",
    tests: [{ file: RESTORE, title: REDIS }],
  },
  {
    promise: "what went with Redis or Postgres is published again",
    file: PAGE,
    guard: "set forwarded_at = null where forwarded_at > now() - interval '7 days'",
    without: "set forwarded_at = null where false",
    tests: [{ file: RESTORE, title: REDIS }],
  },
];
