import type { Guard } from "./guard.ts";

/** What people on call are told, and what is done for them. */

const SRC = "packages/operations/src";
const DOCTOR = "test/operations/doctor.test.ts";
const EXAMINATION = "test/operations/examination.test.ts";
const CONFIRM = "test/cli/confirm.test.ts";
const DENIAL = "test/cli/denial.test.ts";
const LEAST_RIGHTS = "test/fleet/least-rights.test.ts";

export const OPERATIONS_GUARDS: readonly Guard[] = [
  {
    promise: "the turn that goes on is not counted among the lost ones",
    file: `${SRC}/busy-lanes.ts`,
    guard: "tries - Number(holder !== null)",
    without: "tries",
    tests: [{ file: EXAMINATION, title: "the turn that goes on is not counted as lost" }],
  },
  {
    promise: "a lane that moves does not stand still",
    file: `${SRC}/standing-lanes.ts`,
    guard: "again.filter(({ headKey }, index) => headKey === some[index]?.headKey)",
    without: "again",
    tests: [{ file: EXAMINATION, title: "a lane whose head is old and does not move is found" }],
  },
  {
    promise: "a lane does not stand still while its job has not come round",
    file: `${SRC}/doctor/judge-fleet.ts`,
    guard: " || untouched >= BACKLOG_JOBS",
    without: "",
    tests: [{ file: DOCTOR, title: "lanes do not stand still while their jobs have not come round" }],
  },
  {
    promise: "a type that nobody knows is shown escaped",
    file: `${SRC}/doctor/judge-fleet.ts`,
    guard: "shortened(excerptOf(type))",
    without: "shortened(type)",
    tests: [{ file: DOCTOR, title: "types that nobody knows are free text" }],
  },
  {
    promise: "a subscriber that is served is not forgotten",
    file: `${SRC}/update-subscribers.ts`,
    guard: "if (consumers > 0) throw new SubscriberServedError({ name, consumers });",
    without: "",
    tests: [{ file: "test/operations/update-subscribers.test.ts", title: "a name that is served" }],
  },
  {
    promise: "a Postgres that takes no writes is found although it is no replica",
    file: "packages/order-store/src/health.ts",
    guard: "current_setting('transaction_read_only') = 'on'",
    without: "false",
    tests: [{ file: "test/order-store/health.test.ts", title: "set to read-only is no replica" }],
  },
  {
    promise: "a server that is away hides nothing of the other",
    file: `${SRC}/doctor/facts.ts`,
    guard:
      'return { kind: "unreadable", why: explain(error), isDenied: isDenied(error), isFull: isFull(error) };',
    without: "throw error;",
    tests: [{ file: EXAMINATION, title: "a Postgres that is away leaves Redis examined" }],
  },
  {
    promise: "a wrong password is not waited for",
    file: "apps/cli/src/command.ts",
    guard: "      isFinal: isDenied,\n",
    without: "",
    tests: [{ file: DENIAL, title: "is not waited for by a command" }],
  },
  {
    promise: "a publication does not wait for a Redis that lets nobody in",
    file: "apps/cli/src/publish-lines.ts",
    guard: " || isDenied(left.unavailable)",
    without: "",
    hangs: true,
    tests: [{ file: DENIAL, title: "is not waited for by a publication" }],
  },
  {
    promise: "a duration without a unit is refused",
    file: "apps/cli/src/duration.ts",
    guard: "/^\\d.*[a-z]$/iu",
    without: "/^\\d/u",
    tests: [{ file: "test/cli/duration.test.ts", title: "is none: nobody means milliseconds" }],
  },
  {
    promise: "an option that would choose nothing is refused",
    file: "apps/cli/src/commands/dlq.ts",
    guard: "if (options.all !== true && reason !== undefined) {",
    without: "if (options.all !== true && reason === null) {",
    tests: [
      {
        file: "test/cli/exit-codes.test.ts",
        title: "a reason for an event that is named is refused, since it would choose nothing",
      },
    ],
  },
  {
    promise: "a clock is not blamed for the way to it",
    file: `${SRC}/doctor/judge-clocks.ts`,
    guard: "Math.max(0, serverMs - answeredAtMs)",
    without: "Math.max(0, serverMs - askedAtMs)",
    tests: [{ file: DOCTOR, title: "a difference that the way there and back explains is none" }],
  },
  {
    promise: "what cannot be taken back is refused where nobody can be asked",
    file: "apps/cli/src/confirm.ts",
    guard: "if (!isGrave) return;",
    without: "return;",
    tests: [{ file: CONFIRM, title: "where nobody can be asked, what is grave is refused" }],
  },
  {
    promise: "nothing but a plain yes goes on",
    file: "apps/cli/src/confirm.ts",
    guard: "if (/^y(?:es)?$/iu.test(answer.trim())) return;",
    without: "if (/^y/iu.test(answer.trim())) return;",
    tests: [{ file: CONFIRM, title: "does not" }],
  },
  {
    promise: "what is printed in a table cannot move the cursor",
    file: "apps/cli/src/table.ts",
    guard: "return printable(cell);",
    without: "return String(cell);",
    tests: [{ file: "test/cli/table.test.ts", title: "escapes what would move the cursor" }],
  },
  {
    promise: "what people copy from a table is never cut",
    file: "apps/cli/src/table.ts",
    guard: "isCuttable ? Math.min(natural, limit) : natural",
    without: "Math.min(natural, limit)",
    tests: [{ file: "test/cli/table.test.ts", title: "never cuts what people copy" }],
  },
  {
    promise: "the rights that the fleet is given in Redis are enough for its upkeep",
    file: "docs/security.md",
    guard: " ~junban-maintenance:*",
    without: "",
    tests: [{ file: LEAST_RIGHTS, title: "need no more rights" }],
  },
  {
    promise: "the rights that the fleet is given in Redis do not administer it",
    file: "docs/security.md",
    guard: "-@admin -@dangerous ",
    without: "",
    tests: [{ file: LEAST_RIGHTS, title: "cannot drop a table" }],
  },
];
